-- The adjustments: what was added to a total, or taken away, by setting the counter or by importing an old number, rather than
-- by counting. A total is the sum of the counter's history and of its adjustments.
CREATE TABLE IF NOT EXISTS counter_adjustments (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  adjustment_id BIGINT UNSIGNED NOT NULL COMMENT 'random, or hash of an idempotency key: the same adjustment again is recognised',
  kind TINYINT UNSIGNED NOT NULL COMMENT '1: set, 2: import',
  adjusted_at DATETIME(3) NOT NULL COMMENT 'UTC',
  count DECIMAL(30, 0) NOT NULL COMMENT 'what was added to the total; 0 for an import that went into the history',
  PRIMARY KEY (record_type, record_id, adjustment_id)
)
