import * as v from 'valibot'
import { DAY_MS, dayText, monthsLater, startOf } from '../counters/calendar.ts'
import { counterId } from '../counters/counter-address.ts'
import { MAX_AGE_DAYS, MAX_COMPARED, readByAge } from '../counters/history/read-by-age.ts'
import { selectionOf } from '../counters/history/selection.ts'
import { exportCounts } from '../counters/read/export.ts'
import { MAX_PAGE, searchCounters } from '../counters/read/search.ts'
import { askedPrefix } from '../http/authorization.ts'
import { endpoint, publicReading } from '../http/endpoint.ts'
import { limitReading } from '../http/reading.ts'
import { count, DATABASE, described, instant, ok, operation, route, withCsv } from '../openapi/contract.ts'
import * as fields from '../openapi/fields.ts'
import { InvalidInput } from '../schemas.ts'
import type { ParametersOf } from '../service/check-input.ts'
import { countersOfKeys } from '../service/named-counters.ts'
import { MAX_TOP, readTop } from '../service/ranking.ts'
import { consistencyFields, readKept } from '../service/read.ts'
import { agesCsv } from '../views/csv-files.ts'

const TOP_PERIODS = ['day', 'week', 'month', 'all'] as const
const DATE_RULE = 'must be a date such as 2026-11-20, in the years 1970 to 2100'
/** The most days from `from` to `to`: a ranking reads more, the more parts they have. */
const MAX_DAYS = 1_000

const day = () => v.optional(fields.date(DATE_RULE, (day) => /^(19[7-9]|20|2100)/.test(day)))

const topCounters = route('get', '/v1/top/{type}', 'read-unless-public', {
  query: () => ({
    period: v.optional(fields.choice(TOP_PERIODS), 'all'),
    date: day(),
    prefix: fields.prefix(),
    from: day(),
    to: day(),
    limit: fields.limit(MAX_TOP, 10),
  }),
})

export const topCountersContract = () =>
  operation(topCounters, 'Reading', 'top', {
    summary: 'Top counters',
    description:
      'Ranks the counters of a type, or those whose keys begin with a prefix, by count, as of the last roll-up. Days, weeks (from Monday) and months are calendar periods in UTC. A day, a month and all time are read from an index. Other rankings may be a minute old, and are refused above 200,000 counts, or 20,000 without a token.',
    notes: {
      period: 'The period to rank; `all` is all time.',
      date: { format: 'date', description: 'Any day in the period. Default: today.' },
      from: { format: 'date', description: `Instead of a period: the first day of up to ${MAX_DAYS}.` },
      to: { format: 'date', description: 'The end of these days, exclusive. Default: the end of this month.' },
      limit: fields.limitNote(MAX_TOP, 10, 'Maximum number of counters'),
    },
    answers: ok('The counters, highest count first.', 'Top', {
      type: v.string(),
      period: described(v.picklist([...TOP_PERIODS, 'custom']), '`custom`: from `from` to `to`.'),
      start: v.nullable(instant),
      end: described(v.nullable(instant), 'Exclusive.'),
      counters: v.array(v.strictObject({ key: v.string(), count })),
      ...fields.answeredConsistency('rolled'),
    }),
    problems: ['too_many_keys', ...DATABASE],
  })

/** What a ranking that may read tens of thousands of rows counts as. */
const READINGS = 9
/** Seconds for which a ranking may be cached. It is as of the last roll-up. */
const MAX_AGE = 30

export const top = publicReading<typeof topCountersContract>(topCounters, async (c, { caller, type, query }) => {
  const asked = askedPeriod(query, Date.now())
  const prefix = await askedPrefix(c, type, query.prefix)
  // Strangers may choose other days each time, so these are as costly as several readings.
  if (prefix !== null || asked.period === 'custom') await limitReading(c, READINGS)
  const { start, end } = asked
  const period = start === null ? null : selectionOf({ from: start, to: end, firstDay: start, nextDay: end })
  const of = { recordType: type.recordType, name: prefix ?? '' }
  const { counters, asOf } = await readTop(caller, of, period, query.limit)
  const instantOf = (at: number | null) => (at === null ? null : new Date(at).toISOString())
  const answer = {
    type: type.name,
    period: asked.period,
    start: instantOf(start),
    end: instantOf(end),
    counters: counters.map(({ name, count }) => ({ key: name, count })),
    ...consistencyFields('rolled', asOf),
  }
  return { answer, maxAge: MAX_AGE }
})

/** Days from one midnight in UTC to another, in milliseconds since 1970; of all time, `null`. @throws {InvalidInput} */
function askedPeriod({ period, date, from, to }: ParametersOf<typeof topCounters.query>, now: number) {
  if (from !== undefined) {
    if (period !== 'all' || date !== undefined)
      throw new InvalidInput('from', 'cannot be combined with "period" or "date"')
    const [start, end] = [Date.parse(from), to === undefined ? monthsLater(now, 1) : Date.parse(to)]
    if (start >= end && to === undefined) throw new InvalidInput('from', 'must be in the past')
    if (start >= end) throw new InvalidInput('to', 'must be after "from"')
    if (end - start > MAX_DAYS * DAY_MS) throw new InvalidInput('from', `must be at most ${MAX_DAYS} days before "to"`)
    return { period: 'custom' as const, start, end }
  }
  if (to !== undefined) throw new InvalidInput('to', 'needs "from"')
  if (period === 'all') {
    if (date !== undefined) throw new InvalidInput('date', 'needs a period: day, week or month')
    return { period, start: null, end: null }
  }
  const start = startOf(period, new Date(date ?? now)).getTime()
  const end = period === 'month' ? monthsLater(start, 1) : start + (period === 'week' ? 7 : 1) * DAY_MS
  return { period, start, end }
}

const compareRoute = route('get', '/v1/compare/{type}', 'read-unless-public', {
  query: () => ({ key: fields.keys(MAX_COMPARED), format: v.optional(fields.choice(['json', 'csv']), 'json') }),
})

export const compareCountersContract = () =>
  operation(compareRoute, 'Reading', 'compare', {
    summary: 'Compare counters by age',
    description: `Returns the daily counts of up to ${MAX_COMPARED} counters, each from the first day (UTC) on which it counted, so that releases can be compared at the same age. Up to ${MAX_AGE_DAYS} days each, as of the last roll-up.`,
    notes: { key: fields.KEYS_NOTE },
    answers: withCsv(
      ok('The counters, in the order of the keys. As CSV, a column for each.', 'Comparison', {
        type: v.string(),
        counters: v.array(
          v.strictObject({
            key: v.string(),
            first: described(
              v.nullable(v.pipe(v.string(), v.isoDate())),
              'The first day; null if nothing was counted.',
            ),
            counts: described(v.array(count), 'The counts of the first day, the second day, and so on.'),
          }),
        ),
        ...fields.answeredConsistency('rolled'),
      }),
    ),
    problems: DATABASE,
  })

export const compare = publicReading<typeof compareCountersContract>(
  compareRoute,
  async (c, { caller, type, query }) => {
    await limitReading(c, READINGS)
    const named = await countersOfKeys(caller.isolate, type, query.key)
    const question = ['compare', ...named.map(counterId)]
    const { value, asOf } = await readKept(caller, question, () => readByAge(caller.db, named, Date.now()))
    const counters = value.map((byAge, index) => ({
      key: query.key[index]!,
      first: byAge && dayText(byAge.first),
      counts: byAge?.counts ?? [],
    }))
    const answer = { type: type.name, counters, ...consistencyFields('rolled', asOf) }
    return { answer: query.format === 'csv' ? agesCsv(c, [type.name], counters) : answer, maxAge: MAX_AGE }
  },
)

const searchKeys = route('get', '/v1/search/{type}', 'read', {
  query: () => ({
    prefix: v.optional(v.string(), ''),
    after: v.optional(v.string()),
    limit: fields.limit(MAX_PAGE, 20),
  }),
})

export const searchKeysContract = () =>
  operation(searchKeys, 'Reading', 'search', {
    summary: 'Search counters',
    description:
      'Finds counters by the beginning of their keys, sorted by the bytes of the keys. Public types need a token too.',
    notes: {
      prefix: 'The beginning of the keys.',
      limit: fields.limitNote(MAX_PAGE, 20, 'Maximum number of counters on a page'),
    },
    answers: ok('A page of counters.', 'SearchPage', {
      counters: v.array(
        v.strictObject({ key: v.string(), count, consistency: fields.readConsistency('exact', 'rolled') }),
      ),
      next: fields.next(),
    }),
    problems: DATABASE,
  })

/** Needs a token for public types too: some keys may be known to few people. */
export const search = endpoint<typeof searchKeysContract>(
  searchKeys,
  (_, { caller, type, query: { prefix, after = null, limit } }) =>
    searchCounters(caller.db, type, { prefix, after, limit }),
)

const MAX_LIMIT = 1_000

const exportRoute = route('get', '/v1/export/{type}', 'read', {
  query: () => ({
    // The record id of the last counter, in hexadecimal.
    after: v.optional(
      v.pipe(
        v.string(fields.AFTER_RULE),
        v.regex(/^[0-9a-f]{1,16}$/, fields.AFTER_RULE),
        v.transform((text) => BigInt(`0x${text}`)),
      ),
    ),
    limit: fields.limit(MAX_LIMIT, MAX_LIMIT),
    by: v.optional(v.picklist(['total', 'day'], 'must be "total" (the default) or "day"'), 'total'),
  }),
})

export const exportCountsContract = () =>
  operation(exportRoute, 'Reading', 'export', {
    summary: 'Export',
    description:
      'Returns all counters of a type, or all their days, in pages that are not sorted by key. Each page is exact when it is read. ' +
      'Counts added during an export may or may not appear in later pages.',
    notes: {
      limit: fields.limitNote(
        MAX_LIMIT,
        MAX_LIMIT,
        'Maximum number of rows on a page. With `by=day`, a page ends with the counter that reaches it',
      ),
      by: 'A row for each counter, or for each day of a counter.',
    },
    answers: ok('A page of rows.', 'ExportPage', {
      rows: v.array(
        v.strictObject({
          key: v.string(),
          count,
          day: described(
            v.optional(v.pipe(v.string(), v.isoDate())),
            'The day (UTC). With `by=day`, a row without it holds the counts that belong to no day.',
          ),
        }),
      ),
      next: fields.next(),
    }),
    problems: DATABASE,
  })

export const exports = endpoint<typeof exportCountsContract>(
  exportRoute,
  async (_, { caller: { db }, type, query: { after = null, limit, by } }) => {
    const page = await exportCounts(db, { recordType: type.recordType, after, limit, by, now: new Date() })
    const rows = page.rows.map(({ name, count, day }) => ({ key: name, count, ...(day !== null && { day }) }))
    return { rows, next: page.next === null ? null : page.next.toString(16) }
  },
)
