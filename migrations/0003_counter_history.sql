-- The history: what each roll-up moved, by the hour of the run. The hours of a counter are next to each other in the order of
-- time, which is how they are read. So the primary key is the only index here; 0009 adds one for expiring hours.
CREATE TABLE IF NOT EXISTS counter_history (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  period_start DATETIME NOT NULL COMMENT 'UTC, start of the hour',
  count BIGINT NOT NULL,
  PRIMARY KEY (record_type, record_id, period_start)
)
