-- The history by calendar: what was counted of each counter in a day, a week or a month (UTC). The same transactions that
-- write the hours of counter_history keep these sums, so that no reader has to add up thousands of rows, and the hours may be
-- deleted once they are old. Days are what the history is made of: weeks and months are sums of them, hours are parts of them.
--
-- DECIMAL, because what was counted may go beyond 64 bits although the total does not: it may have been set meanwhile.
CREATE TABLE IF NOT EXISTS counter_periods (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  period TINYINT UNSIGNED NOT NULL COMMENT '1: day, 2: week from Monday, 3: month',
  period_start DATE NOT NULL COMMENT 'first day, UTC',
  count DECIMAL(30, 0) NOT NULL,
  PRIMARY KEY (record_type, record_id, period, period_start),
  -- The counters of a type in the order of what they counted in one period.
  KEY ranking (record_type, period, period_start, count)
);
-- What was rolled up before this table was there.
INSERT IGNORE INTO counter_periods (record_type, record_id, period, period_start, count)
  SELECT record_type, record_id, 1, DATE(period_start), SUM(count) FROM counter_history
  GROUP BY record_type, record_id, DATE(period_start);
INSERT IGNORE INTO counter_periods (record_type, record_id, period, period_start, count)
  SELECT record_type, record_id, 2, DATE(period_start) - INTERVAL WEEKDAY(period_start) DAY, SUM(count) FROM counter_history
  GROUP BY record_type, record_id, DATE(period_start) - INTERVAL WEEKDAY(period_start) DAY;
INSERT IGNORE INTO counter_periods (record_type, record_id, period, period_start, count)
  SELECT record_type, record_id, 3, DATE(period_start) - INTERVAL DAYOFMONTH(period_start) - 1 DAY, SUM(count) FROM counter_history
  GROUP BY record_type, record_id, DATE(period_start) - INTERVAL DAYOFMONTH(period_start) - 1 DAY;
