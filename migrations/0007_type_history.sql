-- The history of whole types: the count of all counters of a type in an hour, a day, a week and a month (UTC). Only roll-ups
-- and imports write here, a few rows each.
--
-- A period's count is the sum of its rows. Each roll-up lane has a row of its own, so that transactions that run side by side
-- do not wait for each other. Its range_lane lies in the range of the lane's record ids, so the row is on their shard and
-- commits with them.
CREATE TABLE IF NOT EXISTS type_history (
  record_type SMALLINT UNSIGNED NOT NULL,
  period TINYINT UNSIGNED NOT NULL COMMENT '0: hour, 1: day, 2: week from Monday, 3: month',
  period_start DATETIME NOT NULL COMMENT 'UTC',
  range_lane BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'first record id of the range, plus the number of the lane',
  count DECIMAL(30, 0) NOT NULL,
  PRIMARY KEY (record_type, period, period_start, range_lane)
);
-- Fill the table from the history that was rolled up before it existed.
INSERT IGNORE INTO type_history (record_type, period, period_start, range_lane, count)
  SELECT record_type, 0, period_start, 0, SUM(count) FROM counter_history GROUP BY record_type, period_start;
INSERT IGNORE INTO type_history (record_type, period, period_start, range_lane, count)
  SELECT record_type, period, period_start, 0, SUM(count) FROM counter_periods GROUP BY record_type, period, period_start;
