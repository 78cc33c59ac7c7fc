-- The adjustments: amounts that setting a counter or an import added to its total, or took away. A total is the sum of the
-- counter's days and its adjustments.
--
-- A row is also the mark by which a repeated setting or import is recognized, so rows are never deleted.
CREATE TABLE IF NOT EXISTS counter_adjustments (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  adjustment_id BIGINT UNSIGNED NOT NULL COMMENT 'random, or hash of an idempotency key: the same adjustment again is recognised',
  kind TINYINT UNSIGNED NOT NULL COMMENT '1: set, 2: import',
  adjusted_at DATETIME(3) NOT NULL COMMENT 'UTC',
  count DECIMAL(30, 0) NOT NULL COMMENT 'what was added to the total; 0 for an import that went into the history',
  PRIMARY KEY (record_type, record_id, adjustment_id)
)
