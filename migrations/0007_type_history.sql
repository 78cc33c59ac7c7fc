-- The history of whole types: what was counted of all counters of a type in an hour, a day, a week or a month (UTC). Only
-- roll-ups and imports write here, few rows each.
CREATE TABLE IF NOT EXISTS type_history (
  record_type SMALLINT UNSIGNED NOT NULL,
  period TINYINT UNSIGNED NOT NULL COMMENT '0: hour, 1: day, 2: week from Monday, 3: month',
  period_start DATETIME NOT NULL COMMENT 'UTC',
  count DECIMAL(30, 0) NOT NULL,
  PRIMARY KEY (record_type, period, period_start)
);
-- What was rolled up before this table was there.
INSERT IGNORE INTO type_history (record_type, period, period_start, count)
  SELECT record_type, 0, period_start, SUM(count) FROM counter_history GROUP BY record_type, period_start;
INSERT IGNORE INTO type_history (record_type, period, period_start, count)
  SELECT record_type, period, period_start, SUM(count) FROM counter_periods GROUP BY record_type, period, period_start;
