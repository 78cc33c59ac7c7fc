-- Everything that Slotted Counter keeps in the database. DESIGN.md says how the tables work together.
--
-- Every table is sharded by `bucket` (migrations/vschema.json): a number for the first byte of the record id, or 397, that of record id
-- 0, where there is none. src/database/buckets.ts has the numbers, and says why. All rows that a transaction changes are on one shard.
-- An index that covers a read has the bucket too, because every condition on a record id names it.

-- The slots. Every increment lands here first.
--
-- The primary key is the address of a slot. There is no surrogate id and no secondary unique key, so an upsert of an existing
-- slot locks exactly one index record, and neighboring slots never wait for each other. With an auto-increment id and a secondary
-- unique key, the upsert on MySQL leaves a lock on the end of the primary key, where every other upsert must insert.
CREATE TABLE IF NOT EXISTS slotted_counters (
  record_type SMALLINT UNSIGNED NOT NULL, -- what kind of thing is counted: COUNTERS.<name>.record_type
  record_id BIGINT UNSIGNED NOT NULL, -- hash of the key
  bucket SMALLINT UNSIGNED NOT NULL,
  slot BIGINT UNSIGNED NOT NULL, -- random number that one writer drew, or hash of an idempotency key
  count BIGINT NOT NULL, -- counted and not yet rolled up
  batch BIGINT UNSIGNED NOT NULL, -- last batch applied: the same batch again adds nothing
  kept_until INT UNSIGNED NOT NULL, -- hours since 1970 UTC: up to this hour the row is kept even if it is empty
  pending TINYINT AS (count <> 0) VIRTUAL, -- 1 while there is something to read or roll up
  PRIMARY KEY (record_type, record_id, slot),
  -- Finds the non-empty slots, for the roll-up (all counters in key order) and for exact reads, without touching the empty
  -- slots that wait for pruning. An entry moves only when a slot becomes empty or non-empty.
  KEY pending (pending, record_type, record_id, bucket, slot),
  -- Finds the slots that may be pruned, oldest first, and covers that read. Hours rather than seconds, so that the entry of a
  -- busy slot moves only once an hour.
  KEY pruning (kept_until)
);

-- The counters: the key behind each record id, and its total. The count is total + pending. A row is written before
-- the first increment of its key, so every roll-up and every change finds one. Keys are bytes, not text: they are compared and returned
-- exactly as they were sent.
--
-- The version changes with every change of the count. It is the guard: of several overlapping roll-ups that saw the same slots,
-- exactly one moves them. A change locks the row instead.
--
-- A deleted or renamed counter is marked, and its row deleted later if nothing has counted since (src/counters/keys). A roll-up
-- removes the mark: something counted.
CREATE TABLE IF NOT EXISTS counters (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  bucket SMALLINT UNSIGNED NOT NULL,
  name VARBINARY(512) NOT NULL, -- the key; never changes
  gone_hour INT UNSIGNED NULL, -- hours since 1970 UTC when the counter was deleted or renamed; NULL: it was not
  count BIGINT NOT NULL DEFAULT 0, -- rolled up, set and imported
  version BIGINT UNSIGNED NOT NULL DEFAULT 0,
  rolled_up_at DATETIME(3) NULL, -- UTC; NULL until the first roll-up of this counter
  PRIMARY KEY (record_type, record_id),
  -- The keys of a type in order, for searches by prefix.
  KEY name (record_type, name, record_id, bucket),
  -- The counters of a type in the order of their totals. An entry moves when the total changes, not with every increment.
  KEY ranking (record_type, count),
  -- Finds marked counters, for pruning. Almost all entries are NULL, and never move.
  KEY gone (gone_hour)
);

-- The hours: what each roll-up moved, by the hour of the run. The primary key has the hours of a counter next to each other in the
-- order of time, which is how they are read.
--
-- DECIMAL here and below, because the sum of a period can exceed 64 bits although the total does not, if the counter was set in
-- between.
CREATE TABLE IF NOT EXISTS counter_history (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  bucket SMALLINT UNSIGNED NOT NULL,
  period_start DATETIME NOT NULL, -- UTC, start of the hour
  count DECIMAL(30, 0) NOT NULL,
  PRIMARY KEY (record_type, record_id, period_start),
  -- Finds old hours, which are deleted oldest first. Hours are inserted once and updated in place, so this index costs little.
  KEY period_start (period_start, record_type, record_id, bucket)
);

-- The history by calendar: the count of each counter in a day and in a month (UTC). The transactions that write the hours of
-- counter_history write these sums too. So no reader adds up thousands of rows, and old hours can be deleted. Days are the base of
-- the history: a month is the sum of its days, and hours are parts of days. A week is seven days.
CREATE TABLE IF NOT EXISTS counter_periods (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  bucket SMALLINT UNSIGNED NOT NULL,
  period TINYINT UNSIGNED NOT NULL, -- 1: day, 2: month
  period_start DATE NOT NULL, -- first day, UTC
  count DECIMAL(30, 0) NOT NULL,
  PRIMARY KEY (record_type, record_id, period, period_start),
  -- The counters of a type in the order of their counts in one period. Rankings of several periods add up its entries.
  KEY ranking (record_type, period, period_start, count, record_id, bucket)
);

-- The history of whole types: the count of all counters of a type in an hour, a day and a month (UTC). Only roll-ups
-- and changes of counters write here, a few rows each.
--
-- A period's count is the sum of its rows. Each roll-up lane has a row of its own, so that transactions that run side by side
-- do not wait for each other. Its range_lane lies in the range of the lane's record ids, so the row is on their shard and
-- commits with them.
CREATE TABLE IF NOT EXISTS type_history (
  record_type SMALLINT UNSIGNED NOT NULL,
  period TINYINT UNSIGNED NOT NULL, -- 0: hour, 1: day, 2: month, 3: all adjustments
  period_start DATETIME NOT NULL, -- UTC; 1970-01-01 for period 3
  range_lane BIGINT UNSIGNED NOT NULL, -- first record id of the range, plus the number of the lane
  bucket SMALLINT UNSIGNED NOT NULL,
  count DECIMAL(30, 0) NOT NULL,
  PRIMARY KEY (record_type, period, period_start, range_lane)
);

-- The adjustments: amounts that setting a counter or an import added to its total, or took away. A total is the sum of the
-- counter's days and its adjustments.
CREATE TABLE IF NOT EXISTS counter_adjustments (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  bucket SMALLINT UNSIGNED NOT NULL,
  adjustment_id BIGINT UNSIGNED NOT NULL, -- random
  kind TINYINT UNSIGNED NOT NULL, -- 1: set, 2: import
  adjusted_at DATETIME(3) NOT NULL, -- UTC
  count DECIMAL(30, 0) NOT NULL, -- what was added to the total; 0 for an import that went into the history
  PRIMARY KEY (record_type, record_id, adjustment_id)
);

-- The idempotency keys of settings, imports, deletions, renames and merges, each with what was asked. A change writes its key in its
-- own transaction. So a request that comes again is recognized, whatever has happened since. Rows are never deleted.
CREATE TABLE IF NOT EXISTS change_keys (
  record_id BIGINT UNSIGNED NOT NULL, -- of the counter; of an import, the first record id of its range
  bucket SMALLINT UNSIGNED NOT NULL,
  key_hash BIGINT UNSIGNED NOT NULL, -- hash of the key, and of a counter also of the counter and the kind of change
  contents_hash BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (record_id, key_hash)
);

-- The latest files: which key a stable name of a download, such as app-latest.tgz, leads to. Rows are never deleted.
CREATE TABLE IF NOT EXISTS latest_files (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL, -- hash of the name, as of a key
  bucket SMALLINT UNSIGNED NOT NULL,
  file VARBINARY(512) NOT NULL, -- the key of the file
  named_at DATETIME(3) NOT NULL, -- UTC: an older request that arrives late changes nothing
  PRIMARY KEY (record_type, record_id)
);

-- The state of the roll-up: a row for each range, made by the first run. Correctness does not depend on it. The lease keeps two
-- runs from doing the same work. The cursor lets a run begin where the previous one ran out of budget, so that no counter is always
-- last.
CREATE TABLE IF NOT EXISTS rollup_state (
  range_start BIGINT UNSIGNED NOT NULL, -- first record id of the range
  bucket SMALLINT UNSIGNED NOT NULL,
  holder BIGINT UNSIGNED NOT NULL, -- random number of the run that holds the lease; 0: it was released
  leased_until DATETIME(3) NOT NULL, -- UTC, by the clock of the database
  cursor_record_type SMALLINT UNSIGNED NULL, -- last slot that the latest run reached; NULL: it reached the end
  cursor_record_id BIGINT UNSIGNED NULL,
  cursor_slot BIGINT UNSIGNED NULL,
  last_run_at DATETIME(3) NULL, -- UTC, scheduled time of the latest finished run
  caught_up_at DATETIME(3) NULL, -- UTC, scheduled time of the latest run that left nothing behind
  stopped_by TINYINT UNSIGNED NULL, -- as in background_runs; 3: the run before did not release the lease; 4: it failed
  PRIMARY KEY (range_start)
);

-- How the last run of each background task ended, so that the status can say which budget is too small. Of verification: how far
-- the day's round through all sums is, when one last agreed, and what was found since. Of the queue: the batches that died in it.
CREATE TABLE IF NOT EXISTS background_runs (
  task TINYINT UNSIGNED NOT NULL, -- 1: pruning, 2: expiry of hours, 3: verification, 4: queue
  bucket SMALLINT UNSIGNED NOT NULL,
  finished_at DATETIME(3) NOT NULL, -- UTC, by the clock of the database; of the queue: when a batch last died
  stopped_by TINYINT UNSIGNED NULL, -- the budget that ended the run before its work was done. 1: statements, 2: seconds
  position VARCHAR(40) NULL, -- of verification: where it continues; NULL: the round is over. Of expiry: before when hours were deleted
  round_begun_at DATETIME(3) NULL, -- UTC, scheduled time of the first run of the round
  agreed_at DATETIME(3) NULL, -- UTC, when the last round ended in which every sum agreed; NULL: a mismatch was found since
  found TEXT NULL, -- of verification: the first mismatches that were found since then, as JSON
  dead_batches INT UNSIGNED NULL, -- of the queue: how many batches died
  PRIMARY KEY (task)
);

-- The salts of visits, one for each day: random, made by the Worker that needs one first, and deleted when the last window that
-- began on its day is over. All rows are in the first range, so that no two shards are asked.
CREATE TABLE IF NOT EXISTS visitor_salts (
  range_start BIGINT UNSIGNED NOT NULL DEFAULT 0, -- always 0: the first range
  bucket SMALLINT UNSIGNED NOT NULL,
  day INT UNSIGNED NOT NULL, -- days since 1970-01-01 UTC
  salt BINARY(32) NOT NULL,
  PRIMARY KEY (range_start, day)
);

-- How many keys public requests have brought into being: one row for each type and minute, in one range for each type. Pruning
-- deletes old rows, so the minute comes before the type: they are at the start of their range.
CREATE TABLE IF NOT EXISTS new_key_budgets (
  range_start BIGINT UNSIGNED NOT NULL, -- first record id of the range in which the type has its budget
  bucket SMALLINT UNSIGNED NOT NULL,
  minute INT UNSIGNED NOT NULL, -- minutes since 1970, by the clock of the database
  record_type SMALLINT UNSIGNED NOT NULL,
  taken INT UNSIGNED NOT NULL,
  PRIMARY KEY (range_start, minute, record_type)
);

-- The version of the tables: one row, with the number of the last migration that was applied.
CREATE TABLE IF NOT EXISTS schema_version (
  id TINYINT UNSIGNED NOT NULL, -- always 1
  bucket SMALLINT UNSIGNED NOT NULL,
  version INT UNSIGNED NOT NULL,
  made_at DATETIME NOT NULL, -- UTC, when the tables were first made
  PRIMARY KEY (id)
);
