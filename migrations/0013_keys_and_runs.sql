-- What came under each idempotency key of a setting or an import, so that the key is refused if it comes again with other
-- contents. Keys from before this migration have no row, and get one when they come again. Rows are never deleted.
CREATE TABLE IF NOT EXISTS adjustment_keys (
  key_hash BIGINT UNSIGNED NOT NULL COMMENT 'hash of the key, for a setting also of its counter',
  contents_hash BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (key_hash)
);
-- How the last run of each background task ended, so that the status can say which budget is too small.
CREATE TABLE IF NOT EXISTS background_runs (
  task TINYINT UNSIGNED NOT NULL COMMENT '1: pruning, 2: expiry of hours',
  finished_at DATETIME(3) NOT NULL COMMENT 'UTC, by the clock of the database',
  stopped_by TINYINT UNSIGNED NULL COMMENT 'the budget that ended the run before its work was done. 1: statements, 2: seconds',
  PRIMARY KEY (task)
);
ALTER TABLE rollup_state
  ADD COLUMN stopped_by TINYINT UNSIGNED NULL COMMENT 'as in background_runs';
