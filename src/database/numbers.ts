/**
 * Converts an integer from a result row. The driver returns 64-bit integers, SUM() and COUNT() as strings, and smaller integers
 * as numbers.
 *
 * @throws {TypeError} if the value is not an integer
 */
export function toBigInt(value: unknown): bigint {
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return BigInt(value)
  if (Number.isSafeInteger(value)) return BigInt(value as number)
  throw new TypeError(`expected an integer from the database, got ${typeof value}`)
}

/**
 * Converts an integer for a JSON response, with all its digits. Beyond 2^53 a JavaScript number would be rounded, so the digits
 * are written with `JSON.rawJSON`, which JSON allows.
 */
export function toJsonNumber(value: bigint): number {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : (JSON.rawJSON(String(value)) as unknown as number)
}

/** Converts a DATETIME(3) in UTC from a result row, or `null`. */
export function toDate(value: unknown): Date | null {
  if (value === null) return null
  const date = new Date(`${String(value).replace(' ', 'T')}Z`)
  if (Number.isNaN(date.getTime())) throw new TypeError('expected a date and time from the database')
  return date
}
