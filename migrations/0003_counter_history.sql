-- The history: what each roll-up moved, by the hour of the run. A counter's periods lie next to each other in time order,
-- which is how they are read, so the primary key is the only index.
CREATE TABLE IF NOT EXISTS counter_history (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  period_start DATETIME NOT NULL COMMENT 'UTC, start of the hour',
  count BIGINT NOT NULL,
  PRIMARY KEY (record_type, record_id, period_start)
)
