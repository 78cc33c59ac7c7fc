import { LineError } from './mistakes.ts'

const LARGEST = 2n ** 63n - 1n
/** RFC 3339, and what databases write. */
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+-]\d\d(?::\d\d)?)?$/

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

/** A count that is not negative. @param name what the message calls it @throws {LineError} if it is anything else */
export function countOf(line: number, name: string, digits: unknown): bigint {
  const count = /^\d{1,19}$/.test(String(digits)) ? BigInt(String(digits)) : null
  if (count === null || !isCount(count)) throw new LineError(line, `${name} must be a whole number within 64 bits`)
  return count
}

/** A day (UTC). @throws {LineError} if it is none */
export function dayOf(line: number, name: string, text: unknown): string {
  if (typeof text === 'string' && isDay(text)) return text
  throw new LineError(line, `${name} must be a day from 1970-01-01 to today (UTC), such as "2026-11-01"`)
}

/** A day or an hour (UTC), such as `2026-11-01T09`. @throws {LineError} if it is neither */
export function dayOrHourOf(line: number, name: string, text: unknown): string {
  const [, day, hour] = /^(.{10})(T(?:[01]\d|2[0-3]))$/.exec(String(text)) ?? []
  if (hour === undefined || !isDay(day!)) return dayOf(line, name, text)
  if (Date.parse(`${day}${hour}:00Z`) <= Date.now()) return String(text)
  throw new LineError(line, `${name} must not be an hour in the future (UTC)`)
}

/** The day (UTC) of a time; without a zone, the time is in UTC. @throws {LineError} if it is none */
export function dayOfTime(line: number, name: string, time: unknown): string {
  const [, date = '', clock, zone = 'Z'] = TIME.exec(String(time)) ?? []
  // A leap second is the second before.
  const at = new Date(`${date}T${clock?.replace(/:60/, ':59')}${zone.length === 3 ? `${zone}:00` : zone}`)
  const day = isDay(date) && !Number.isNaN(at.getTime()) ? at.toISOString().slice(0, 10) : ''
  if (isDay(day)) return day
  throw new LineError(line, `${name} must be a time from 1970 to today (UTC), such as "2026-11-01T12:00:00Z"`)
}
