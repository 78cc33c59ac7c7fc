-- What came under each idempotency key of a setting or an import, so that the key is refused if it comes again with other
-- contents. Keys from before this migration have no row, and get one when they come again. Rows are never deleted.
CREATE TABLE IF NOT EXISTS adjustment_keys (
  key_hash BIGINT UNSIGNED NOT NULL COMMENT 'hash of the key, for a setting also of its counter',
  contents_hash BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (key_hash)
)
