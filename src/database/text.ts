// A key may begin with a byte order mark, which is part of the key.
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

/** Converts UTF-8 text from a binary column. The driver returns bytes, or text if the field has no character set. */
export function toText(value: unknown): string {
  if (value instanceof Uint8Array) return decoder.decode(value)
  if (typeof value === 'string') return value
  throw new TypeError(`expected text from the database, got ${typeof value}`)
}
