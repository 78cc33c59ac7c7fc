import { LineError } from './line-error.ts'

const COUNT = /^-?\d{1,19}$/
const LARGEST = 2n ** 63n - 1n

/** A row to import. */
export interface ImportRow {
  /** Its line in the file. */
  line: number
  type: string
  key: string
  count: bigint
  /** A day (UTC), such as `2026-11-01`. */
  day?: string
}

/**
 * Makes a row of what a file says.
 *
 * @param line where it says so
 * @throws {LineError} if a part is wrong
 */
export function importRow(line: number, { type, key, count, day }: Record<string, unknown>): ImportRow {
  const wrong = (message: string) => new LineError(line, message)
  if (typeof type !== 'string' || type === '') throw wrong('type must be the name of a counter type')
  if (typeof key !== 'string' || key === '') throw wrong('key must be a text that is not empty')
  if (typeof count !== 'string' || !COUNT.test(count)) throw wrong('count must be a whole number')
  const number = BigInt(count)
  if (!isCount(number)) throw wrong('count must be within 64 bits')
  if (day === undefined || day === null) return { line, type, key, count: number }
  if (typeof day !== 'string' || !isDay(day)) {
    throw wrong('day must be a day from 1970-01-01 to today (UTC), such as "2026-11-01"')
  }
  return { line, type, key, count: number, day }
}

/** Whether a count may be stored. */
export function isCount(number: bigint): boolean {
  return number <= LARGEST && number >= -LARGEST
}

/** Whether a text is a day from 1970-01-01 to today (UTC). */
export function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`)
  const isReal = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
  return isReal && date.getTime() >= 0 && date.getTime() <= Date.now()
}
