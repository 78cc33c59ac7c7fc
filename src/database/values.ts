declare global {
  // ECMAScript "JSON.parse source text access". TypeScript's library does not declare it yet.
  interface JSON {
    rawJSON(text: string): { readonly rawJSON: string }
  }
}

/** Converts an integer from a row: 64 bits, SUM() and COUNT() come as strings, others as numbers. @throws {TypeError} */
export function toBigInt(value: unknown): bigint {
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return BigInt(value)
  if (Number.isSafeInteger(value)) return BigInt(value as number)
  throw new TypeError(`expected an integer from the database, got ${typeof value}`)
}

/** A number in JSON. One beyond 2^53 is its digits, because a JavaScript number would be rounded. */
export type JsonNumber = number | { readonly rawJSON: string }

/** Converts an integer for a JSON response, with all its digits. */
export function toJsonNumber(value: bigint): JsonNumber {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(value))
}

/** JSON in which bigints are numbers. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? toJsonNumber(member) : member))
}

/** Converts a DATETIME(3) in UTC from a result row, or `null`. */
export function toDate(value: unknown): Date | null {
  if (value === null) return null
  const date = new Date(`${String(value).replace(' ', 'T')}Z`)
  if (Number.isNaN(date.getTime())) throw new TypeError('expected a date and time from the database')
  return date
}

/**
 * SQL of columns that come as one text: the driver decodes each column of each row on its own, which takes longer than splitting a text.
 * Not for a UNION of ordered parts on several shards: vtgate refuses it. @param columns without spaces in them; only the last may be NULL
 */
export function packedSql(...columns: readonly string[]): string {
  return `CONCAT_WS(' ', ${columns.join(', ')}) AS packed`
}

/** The values of a row's packed columns, as texts. */
export function unpack(row: Record<string, unknown>): string[] {
  return String(row.packed).split(' ')
}

// A key may begin with a byte order mark.
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

/** Converts UTF-8 text from a binary column. The driver returns bytes, or text if the field has no character set. */
export function toText(value: unknown): string {
  if (value instanceof Uint8Array) return decoder.decode(value)
  if (typeof value === 'string') return value
  throw new TypeError(`expected text from the database, got ${typeof value}`)
}

/** The bytes in hexadecimal digits, in lower case. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
