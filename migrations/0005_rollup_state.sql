-- The roll-up's own state: one row, created by the first run. Nothing depends on it for correctness: the lease only keeps
-- two runs from doing the same work, and the cursor only sees to it that a run whose budget ends early does not leave the
-- same counters for last every time.
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
