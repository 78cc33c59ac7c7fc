-- DECIMAL for the same reason as in counter_periods.
ALTER TABLE counter_history MODIFY count DECIMAL(30, 0) NOT NULL;
-- Finds old hours, which are deleted oldest first. Hours are inserted once and updated in place, so this index costs little.
ALTER TABLE counter_history ADD KEY period_start (period_start);
-- The counters of a type in the order of their totals. An entry moves when the total changes, not with every increment.
ALTER TABLE counter_totals ADD KEY ranking (record_type, count);
-- The keys of a type in order, for searches by prefix.
ALTER TABLE counter_names ADD KEY name (record_type, name);
