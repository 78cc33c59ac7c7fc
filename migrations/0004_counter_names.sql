-- The names: which key a hashed record id stands for (types with key = "string" only). Written before the first increment
-- of a key, never changed. Bytes, not text: keys are compared and returned exactly as they were sent.
CREATE TABLE IF NOT EXISTS counter_names (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  name VARBINARY(512) NOT NULL,
  PRIMARY KEY (record_type, record_id)
)
