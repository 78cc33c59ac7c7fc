-- The history by calendar: the count of each counter in a day, a week and a month (UTC). The transactions that write the hours
-- of counter_history write these sums too. So no reader adds up thousands of rows, and old hours can be deleted. Days are the
-- base of the history: weeks and months are sums of days, and hours are parts of days.
--
-- DECIMAL, because the sum of a period can exceed 64 bits although the total does not, if the counter was set in between.
CREATE TABLE IF NOT EXISTS counter_periods (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  period TINYINT UNSIGNED NOT NULL COMMENT '1: day, 2: week from Monday, 3: month',
  period_start DATE NOT NULL COMMENT 'first day, UTC',
  count DECIMAL(30, 0) NOT NULL,
  PRIMARY KEY (record_type, record_id, period, period_start),
  -- The counters of a type in the order of their counts in one period.
  KEY ranking (record_type, period, period_start, count)
);
-- Fill the table from the hours that were rolled up before it existed.
INSERT IGNORE INTO counter_periods (record_type, record_id, period, period_start, count)
  SELECT record_type, record_id, 1, DATE(period_start), SUM(count) FROM counter_history
  GROUP BY record_type, record_id, DATE(period_start);
INSERT IGNORE INTO counter_periods (record_type, record_id, period, period_start, count)
  SELECT record_type, record_id, 2, DATE(period_start) - INTERVAL WEEKDAY(period_start) DAY, SUM(count) FROM counter_history
  GROUP BY record_type, record_id, DATE(period_start) - INTERVAL WEEKDAY(period_start) DAY;
INSERT IGNORE INTO counter_periods (record_type, record_id, period, period_start, count)
  SELECT record_type, record_id, 3, DATE(period_start) - INTERVAL DAYOFMONTH(period_start) - 1 DAY, SUM(count) FROM counter_history
  GROUP BY record_type, record_id, DATE(period_start) - INTERVAL DAYOFMONTH(period_start) - 1 DAY;
