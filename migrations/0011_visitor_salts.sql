-- The salts of visits, one for each day: random, made by the Worker that needs one first, and deleted when the last window that
-- began on its day is over. All rows are in the first range, so that no two shards are asked.
CREATE TABLE IF NOT EXISTS visitor_salts (
  range_start BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'always 0: the first range',
  day INT UNSIGNED NOT NULL COMMENT 'days since 1970-01-01 UTC',
  salt BINARY(32) NOT NULL,
  PRIMARY KEY (range_start, day)
)
