// A key may begin with a byte order mark, which is part of it like anything else.
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

/** UTF-8 text from a binary column of a result row: the driver delivers its bytes, or text where it is told no character set. */
export function toText(value: unknown): string {
  if (value instanceof Uint8Array) return decoder.decode(value)
  if (typeof value === 'string') return value
  throw new TypeError(`expected text from the database, got ${typeof value}`)
}
