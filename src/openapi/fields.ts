import * as v from 'valibot'
import { midnightOf } from '../counters/calendar.ts'
import { DEFAULT_POINTS, HISTORY_UNITS, TIME_RULE } from '../counters/history/history-range.ts'
import { fitsTotal } from '../counters/ledger/totals.ts'
import { MAX_READ } from '../counters/read/read-counters.ts'
import { flag, parsed, strictObject, textThat } from '../schemas.ts'
import { described, instant, type Notes, TYPE_DESCRIPTION } from './contract.ts'

export const choice = <const Words extends readonly string[]>(words: Words) =>
  v.picklist(words, `must be one of ${words.join(', ')}`)

export const trueOrFalse = () => v.optional(v.picklist(['true', 'false'], 'must be true or false'), 'false')

const exactInteger = (rule: string) => v.pipe(v.number(rule), v.safeInteger(rule))

/** A day of the calendar, such as 2026-11-20. */
export const date = (rule: string, fits = (_day: string) => true) =>
  textThat(rule, (day) => !Number.isNaN(midnightOf(day)) && fits(day))

const BY_RULE = `must be a whole number between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`

/** A body of a few fields. `example` is for error messages. */
export const shortBody = <const Shape extends v.ObjectEntries>(
  maxBytes: number,
  example: string,
  shape: () => Shape,
) => ({ maxBytes, schema: () => strictObject(shape(), `must be an object such as ${example}`) })

export const named = { type: v.string('must be the name of a counter type'), key: v.string() }

export const MAX_LISTED = 1_000

/** A body of one list. @param name that of the list, and what it lists */
export const listBody = <const Name extends string, Entry extends v.GenericSchema>(name: Name, entry: () => Entry) => ({
  // Fits `MAX_LISTED` keys of 512 bytes.
  maxBytes: 1024 * 1024,
  schema: () => {
    const rule = `must be a list of 1 to ${MAX_LISTED} ${name}`
    const list = v.pipe(v.array(entry(), rule), v.minLength(1, rule), v.maxLength(MAX_LISTED, rule))
    return strictObject({ [name]: list } as { [N in Name]: typeof list }, `must be an object with ${name}`)
  },
})

export const count = exactInteger(BY_RULE)

export const by = v.optional(count, 1)

export const increment = () => strictObject({ ...named, by })

export const incrementList = listBody('increments', increment)

export const readingList = listBody('readings', () => strictObject({ ...named, count, reset: flag }))

const IMPORTED_RULE = `${BY_RULE}; beyond that, the digits of a signed 64-bit integer in quotation marks`

/** An imported count. JSON numbers do not hold the largest counts exactly. */
export const importedCount = () =>
  v.pipe(
    v.union([exactInteger(IMPORTED_RULE), v.pipe(v.string(), v.regex(/^-?\d{1,19}$/, IMPORTED_RULE))], IMPORTED_RULE),
    v.transform((value) => BigInt(value)),
    v.check(fitsTotal, IMPORTED_RULE),
  )

export const AFTER_RULE = 'must be the "next" of the previous page'

export const next = () =>
  described(v.nullable(v.string()), 'Pass it as `after` to get the next page; null on the last page.')

export const limit = (max: number, usual: number) => {
  const message = `must be a whole number from 1 to ${max}`
  const limit = (digits: string) => (/^\d{1,9}$/.test(digits) && +digits >= 1 && +digits <= max ? +digits : null)
  return v.optional(parsed(limit, message), `${usual}`)
}

/** The note on a limit: its meaning, although a query string is text. @param what the description, without a full stop */
export const limitNote = (max: number, usual: number, what: string) => ({
  type: 'integer',
  minimum: 1,
  maximum: max,
  default: undefined,
  description: `${what}. Default: ${usual}.`,
})

export const consistency = () =>
  v.optional(v.picklist(['exact', 'rolled'], 'must be "exact" (the default) or "rolled"'), 'exact')

/** What an answer includes that is read for its request. */
export const readConsistency = <const Words extends readonly string[]>(...words: Words) =>
  described(v.picklist(words), '`rolled`: as of the last roll-up, without the pending part.')

/** The same of an answer that may be kept. */
export const answeredConsistency = <const Words extends readonly string[]>(...words: Words) => ({
  consistency: described(
    v.picklist([...words, 'kept']),
    '`rolled`: as of the last roll-up, without the pending part. `kept`: read for an earlier request, at `asOf`.',
  ),
  asOf: described(v.optional(instant), 'When the reading of a `kept` answer began.'),
})

export const prefix = () => v.optional(v.string())

export const counterQuery = () => ({ consistency: consistency() })
export function keys(most: number) {
  const rule = `must be given 1 to ${most} times: ?key=a&key=b`
  return v.pipe(v.array(v.string(), rule), v.minLength(1, rule), v.maxLength(most, rule))
}

export const KEYS_NOTE = 'A key. Repeat the parameter for each key: `?key=a&key=b`.'

export const countersQuery = () => ({ key: keys(MAX_READ), consistency: consistency() })
export const totalQuery = () => ({ prefix: prefix(), consistency: consistency() })

const time = () => v.union([date(TIME_RULE), instant], TIME_RULE)

export const historyQuery = () => ({
  by: v.optional(choice(HISTORY_UNITS), 'day'),
  from: v.optional(time()),
  to: v.optional(time()),
  tz: v.optional(v.string(), 'UTC'),
})

const TIME = {
  anyOf: [
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time' },
  ],
}

/** What the document says of fields unless an operation has its own note. */
export const usualNotes = (): Notes => ({
  type: TYPE_DESCRIPTION,
  key: 'The key, not percent-encoded.',
  reset: 'Whether the reading may be below the count. If it is, the history is not changed.',
  after: 'The `next` of the previous page.',
  consistency:
    '`exact`: total and pending, from one snapshot; while too much is pending, the answer is `rolled`. `rolled`: only the total of the last roll-up, which is cacheable.',
  prefix: 'The beginning of the keys. Without a token, it must be one of the type’s `prefixes`. Default: all keys.',
  by: 'The length of a period.',
  from: {
    ...TIME,
    description: `The start of the first period: a date in the time zone, or a date and time. By default, the range covers ${DEFAULT_POINTS.hour} hours, ${DEFAULT_POINTS.day} days, ${DEFAULT_POINTS.week} weeks or ${DEFAULT_POINTS.month} months.`,
  },
  to: { ...TIME, description: 'The end of the range, exclusive. By default, the current period is the last one.' },
  tz: 'The time zone in which days, weeks and months begin, such as `Europe/Berlin`.',
})
