-- The slots. Every increment lands here first.
--
-- The primary key is the address of a slot. There is no surrogate id and no secondary unique key, so an upsert of an existing
-- slot locks exactly one index record and neighboring slots never wait for each other. With an auto-increment id and a secondary
-- unique key, the upsert on MySQL leaves a lock on the end of the primary key, where every other upsert must insert.
--
-- On a sharded keyspace, record_id is meant to be the shard key, so that all rows of one counter are on one shard.
CREATE TABLE IF NOT EXISTS slotted_counters (
  record_type SMALLINT UNSIGNED NOT NULL COMMENT 'what kind of thing is counted: COUNTERS.<name>.record_type',
  record_id BIGINT UNSIGNED NOT NULL COMMENT 'hash of the key, or the key itself for integer types',
  slot BIGINT UNSIGNED NOT NULL COMMENT 'random number that one writer drew, or hash of an idempotency key',
  count BIGINT NOT NULL COMMENT 'counted and not yet rolled up',
  batch BIGINT UNSIGNED NOT NULL COMMENT 'last batch applied: the same batch again adds nothing',
  written_hour INT UNSIGNED NOT NULL COMMENT 'hours since 1970 UTC of the last batch, by the clock of the database',
  pending TINYINT AS (count <> 0) VIRTUAL COMMENT '1 while there is something to read or roll up',
  PRIMARY KEY (record_type, record_id, slot),
  -- Finds the non-empty slots, for the roll-up (all counters in key order) and for exact reads, without touching the empty
  -- slots that wait for pruning. An entry moves only when a slot becomes empty or non-empty.
  KEY pending (pending, record_type, record_id, slot),
  -- Finds the slots that are old enough to prune, oldest first, and covers that read. Hours rather than seconds, so that the
  -- entry of a busy slot moves only once an hour.
  KEY written (written_hour)
)
