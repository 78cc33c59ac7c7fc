-- The state of the roll-up: one row, created by the first run. Correctness does not depend on it. The lease keeps two runs from
-- doing the same work. The cursor lets a run begin where the previous one ran out of budget, so that no counter is always last.
-- Since 0010, there is a row for each range.
CREATE TABLE IF NOT EXISTS rollup_state (
  id TINYINT UNSIGNED NOT NULL,
  holder BIGINT UNSIGNED NOT NULL COMMENT 'random number of the run that holds the lease',
  leased_until DATETIME(3) NOT NULL COMMENT 'UTC, by the clock of the database',
  cursor_record_type SMALLINT UNSIGNED NULL COMMENT 'last slot that the latest run reached; NULL: it reached the end',
  cursor_record_id BIGINT UNSIGNED NULL,
  cursor_slot BIGINT UNSIGNED NULL,
  last_run_at DATETIME(3) NULL COMMENT 'UTC, scheduled time of the latest finished run',
  caught_up_at DATETIME(3) NULL COMMENT 'UTC, scheduled time of the latest run that left nothing behind',
  PRIMARY KEY (id)
)
