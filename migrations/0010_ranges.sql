-- Ranges: the rows of a range of record ids are on one shard. New databases get the first column from 0007. The rows of older
-- ones stand for the first range, and stay correct: sums stay sums, and the lease and the cursor only save work.
ALTER TABLE type_history
  ADD COLUMN range_lane BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'first record id of the range, plus the number of the lane' AFTER period_start,
  DROP PRIMARY KEY,
  ADD PRIMARY KEY (record_type, period, period_start, range_lane);
-- The old id stays, with a default, so that a Worker from before this migration can go on.
ALTER TABLE rollup_state
  ADD COLUMN range_start BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'first record id of the range' FIRST,
  MODIFY id TINYINT UNSIGNED NOT NULL DEFAULT 1 COMMENT 'not used any more',
  DROP PRIMARY KEY,
  ADD PRIMARY KEY (range_start);
-- The key of a counter with integer keys, whose record ids are mixed (src/counters/integer-key.ts), for searches in the order of
-- the keys: the record id times the inverse of the factor, modulo 2^64, in two halves. NULL for string keys.
ALTER TABLE counter_totals
  ADD COLUMN number BIGINT UNSIGNED AS (IF(record_type < 32768, NULL,
    (((((record_id & 4294967295) * 2570548029) >> 32) + (((record_id >> 32) * 2570548029) & 4294967295)
      + (((record_id & 4294967295) * 4057891809) & 4294967295)) & 4294967295) << 32
    | (((record_id & 4294967295) * 2570548029) & 4294967295))) VIRTUAL;
ALTER TABLE counter_totals ADD KEY number (record_type, number);
-- Slots of idempotency keys had 64 bits and have 63 now. An empty slot at the new place recognizes a key that is sent again.
INSERT IGNORE INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour)
  SELECT record_type, record_id, slot & 9223372036854775807, 0, batch & 9223372036854775807, written_hour
  FROM slotted_counters WHERE slot = batch AND slot > 9223372036854775807;
