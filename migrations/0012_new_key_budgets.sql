-- How many keys public requests have brought into being: one row for each type and minute, in one range for each type. Pruning
-- deletes old rows, so the minute comes before the type: they are at the start of their range.
CREATE TABLE IF NOT EXISTS new_key_budgets (
  range_start BIGINT UNSIGNED NOT NULL COMMENT 'first record id of the range in which the type has its budget',
  minute INT UNSIGNED NOT NULL COMMENT 'minutes since 1970, by the clock of the database',
  record_type SMALLINT UNSIGNED NOT NULL,
  taken INT UNSIGNED NOT NULL,
  PRIMARY KEY (range_start, minute, record_type)
);
