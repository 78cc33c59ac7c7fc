-- The totals: one row per counter, what has been rolled up. total + pending is the count.
--
-- Only ever addressed by primary key. version changes with every change of count: it is the guard that lets exactly one
-- of several overlapping roll-ups move what they all saw.
CREATE TABLE IF NOT EXISTS counter_totals (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  count BIGINT NOT NULL,
  version BIGINT UNSIGNED NOT NULL,
  rolled_up_at DATETIME(3) NULL COMMENT 'UTC; NULL until the first roll-up of this counter',
  PRIMARY KEY (record_type, record_id)
)
