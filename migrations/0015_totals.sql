-- Totals of types and of declared prefixes of keys. The sum of a type's totals is the sum of its months in type_history and of
-- its adjustments, which type_history keeps as rows of a period of their own from now on:
--
--   period 4   all adjustments, at 1970-01-01
--   period 5   no sum: the version of prefix_builds by which a transaction was made, at 1970-01-01
--
-- The same sums of the counters whose keys begin with a prefix, for the prefixes that a type declares. Rows as in type_history.
CREATE TABLE IF NOT EXISTS prefix_history (
  record_type SMALLINT UNSIGNED NOT NULL,
  prefix_hash BIGINT UNSIGNED NOT NULL COMMENT 'hash of the prefix, as of keys',
  period TINYINT UNSIGNED NOT NULL COMMENT '0: hour, 1: day, 2: week from Monday, 3: month, 4: adjustments',
  period_start DATETIME NOT NULL COMMENT 'UTC',
  range_lane BIGINT UNSIGNED NOT NULL COMMENT 'first record id of the range, plus the number of the lane',
  count DECIMAL(30, 0) NOT NULL,
  PRIMARY KEY (record_type, prefix_hash, period, period_start, range_lane)
);
-- Which counters of a range are in the sums of a prefix: those whose names are not after built_to, or all. The row with the
-- hash 0 has the version of the others: it changes with each of them.
CREATE TABLE IF NOT EXISTS prefix_builds (
  record_type SMALLINT UNSIGNED NOT NULL,
  prefix_hash BIGINT UNSIGNED NOT NULL,
  range_start BIGINT UNSIGNED NOT NULL COMMENT 'first record id of the range',
  prefix VARBINARY(512) NOT NULL,
  built_to VARBINARY(512) NULL COMMENT 'last name whose counter is in the sums; NULL: none is yet',
  complete TINYINT UNSIGNED NOT NULL COMMENT '1: all are',
  version BIGINT UNSIGNED NOT NULL COMMENT '0, but in the row with the hash 0',
  PRIMARY KEY (record_type, prefix_hash, range_start)
);
-- Keep the sums of the adjustments that were made before. Once more adds what a version before this migration has made since.
INSERT INTO type_history (record_type, period, period_start, range_lane, count)
  SELECT record_type, 4, '1970-01-01', 0, SUM(difference) FROM (
    SELECT record_type, count AS difference FROM counter_adjustments
    UNION ALL SELECT record_type, -count FROM type_history WHERE period = 4) AS parts GROUP BY record_type
  ON DUPLICATE KEY UPDATE count = count + VALUES(count);
