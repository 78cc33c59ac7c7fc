-- The totals: one row for each counter, with the sum that was rolled up. The count is total + pending.
--
-- The version changes with every change of the count. It is the guard: of several overlapping roll-ups that saw the same slots,
-- exactly one moves them.
CREATE TABLE IF NOT EXISTS counter_totals (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  count BIGINT NOT NULL,
  version BIGINT UNSIGNED NOT NULL,
  rolled_up_at DATETIME(3) NULL COMMENT 'UTC; NULL until the first roll-up of this counter',
  PRIMARY KEY (record_type, record_id)
)
