-- Wider, for the same reason as the sums of counter_periods.
ALTER TABLE counter_history MODIFY count DECIMAL(30, 0) NOT NULL;
-- Old hours, for folding: they are deleted oldest first. Hours are inserted once and updated in place, so this costs little.
ALTER TABLE counter_history ADD KEY period_start (period_start);
-- The counters of a type in the order of their totals. An entry moves when its counter is rolled up, never when it counts.
ALTER TABLE counter_totals ADD KEY ranking (record_type, count);
-- The keys of a type in order, for finding those that begin with something.
ALTER TABLE counter_names ADD KEY name (record_type, name);
