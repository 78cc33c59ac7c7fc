-- The names: the key behind a hashed record id, for types with key = "string". A name is written together with the first
-- increment of its key and never changes. Bytes, not text: keys are compared and returned exactly as they were sent.
CREATE TABLE IF NOT EXISTS counter_names (
  record_type SMALLINT UNSIGNED NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  name VARBINARY(512) NOT NULL,
  PRIMARY KEY (record_type, record_id)
)
