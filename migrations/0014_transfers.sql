-- Deletions, renames and merges that are under way. Each counter that takes part has a row, on its own shard: the source says
-- what has left it, the target which part has arrived last. So what was cut off half-way is finished by whoever comes next.
--
-- Rows are deleted when a transfer is finished. A source's row stays if the request had an idempotency key, by which it is
-- recognized.
CREATE TABLE IF NOT EXISTS counter_transfers (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  transfer_id BIGINT UNSIGNED NOT NULL COMMENT 'random, or hash of an idempotency key',
  role TINYINT UNSIGNED NOT NULL COMMENT '1: the counter is the source, 2: it is the target',
  kind TINYINT UNSIGNED NOT NULL COMMENT '1: delete, 2: rename, 3: merge',
  other_id BIGINT UNSIGNED NULL COMMENT 'record id of the counter at the other end; NULL: there is none',
  other_name VARBINARY(512) NULL COMMENT 'key of the target; NULL for integer keys',
  keyed TINYINT UNSIGNED NOT NULL COMMENT '1: transfer_id is the hash of an idempotency key',
  started_at DATETIME(3) NOT NULL COMMENT 'UTC',
  before_day DATE NOT NULL COMMENT 'the days from this one on have left the source',
  step INT UNSIGNED NOT NULL COMMENT 'number of the part that left the source last, or arrived at the target last',
  stage TINYINT UNSIGNED NOT NULL COMMENT '1: more is to leave the source, 2: everything has left it, 3: finished',
  parcel MEDIUMTEXT NULL COMMENT 'the part that left the source last, until the next one leaves',
  PRIMARY KEY (record_type, record_id, transfer_id, role)
)
