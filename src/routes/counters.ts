import * as v from 'valibot'
import { HISTORY_UNITS, MAX_POINTS } from '../counters/history/history-range.ts'
import { ADJUSTMENT_KINDS } from '../counters/ledger/history-addition.ts'
import { MAX_READ } from '../counters/read/read-counters.ts'
import { askedPrefix } from '../http/authorization.ts'
import { publicReading } from '../http/endpoint.ts'
import { count, DATABASE, described, instant, namedObject, ok, operation, READING, route } from '../openapi/contract.ts'
import * as fields from '../openapi/fields.ts'
import { counterHistoryAnswer, typeHistoryAnswer } from '../service/history.ts'
import { counterAnswer, countersAnswer, totalAnswer } from '../service/read.ts'

const figures = (countMeans: string) => ({
  count: described(count, countMeans),
  total: described(count, 'The rolled-up part.'),
  pending: described(v.nullable(count), 'The part that has not been rolled up yet; null if it was not read.'),
})

const reading = () =>
  namedObject('Reading', {
    type: v.string(),
    key: v.string(),
    ...figures('The count: total, plus pending if it was read.'),
    consistency: fields.readConsistency('exact', 'rolled'),
    rolledUpAt: described(v.nullable(instant), 'When the counter was last rolled up; null if never.'),
  })

const read = route('get', '/v1/counters/{type}/{key}', 'read-unless-public', { query: fields.counterQuery })

export const readContract = () =>
  operation(read, 'Reading', 'read', {
    summary: 'Get a counter',
    description: 'A key that was never counted returns zeros.',
    answers: { 200: { description: 'The counter.', schema: reading() } },
    problems: READING,
  })

const readMany = route('get', '/v1/counters/{type}', 'read-unless-public', { query: fields.countersQuery })

export const readManyContract = () =>
  operation(readMany, 'Reading', 'readMany', {
    summary: 'List counters',
    description: `Returns the counters of up to ${MAX_READ} keys, in the order of the keys. Cloudflare limits the URL to 16 KB. Exact counts all come from one snapshot.`,
    notes: { key: fields.KEYS_NOTE },
    answers: { 200: { description: 'The counters.', schema: v.strictObject({ counters: v.array(reading()) }) } },
    problems: READING,
  })

export const counter = publicReading<typeof readContract>(read, (_, { query, ...asked }) =>
  counterAnswer(asked, query.consistency),
)

export const counters = publicReading<typeof readManyContract>(readMany, (_, { caller, type, query }) =>
  countersAnswer(caller, type, query.key, query.consistency),
)

const totalOfType = route('get', '/v1/types/{type}', 'read-unless-public', { query: fields.totalQuery })

export const totalOfTypeContract = () =>
  operation(totalOfType, 'Reading', 'typeTotal', {
    summary: 'Get the total of a type',
    description:
      'The sum of all counters of the type, or of those whose keys begin with a prefix. While too many slots are pending, a request for `exact` returns `rolled`, as of the last roll-up. Without a token, the total of a prefix may be ten seconds old. `consistency` reports both.',
    answers: ok('The total.', 'TypeTotal', {
      type: v.string(),
      prefix: v.nullable(v.string()),
      ...figures('total, plus pending if it was read.'),
      ...fields.answeredConsistency('exact', 'rolled'),
      rolledUpAt: described(v.nullable(instant), 'When a roll-up last left nothing pending; null if none did.'),
    }),
    problems: ['too_many_keys', ...READING],
  })

export const typeTotal = publicReading<typeof totalOfTypeContract>(totalOfType, async (c, { caller, type, query }) =>
  totalAnswer(caller, type, await askedPrefix(c, type, query.prefix), query.consistency),
)

const points = () => ({
  by: v.picklist(HISTORY_UNITS),
  timeZone: v.string(),
  from: instant,
  to: described(instant, 'Exclusive.'),
  points: described(
    v.array(v.strictObject({ start: instant, count })),
    'All periods of the range, including those without counts.',
  ),
})

const historyOfCounter = route('get', '/v1/counters/{type}/{key}/history', 'read-unless-public', {
  query: fields.historyQuery,
})

export const historyOfCounterContract = () =>
  operation(historyOfCounter, 'Reading', 'history', {
    summary: 'Get the history of a counter',
    description: `Returns counts by hour, day, week (from Monday) or month of a time zone, for up to ${MAX_POINTS} periods. Pending counts belong to the current period; if there are too many, they are left out. Without a token, a long history may be ten seconds old. \`consistency\` reports both.`,
    answers: ok('The counts of the periods, and the adjustments.', 'History', {
      type: v.string(),
      key: v.string(),
      ...points(),
      adjustments: described(
        v.array(v.strictObject({ at: instant, kind: v.picklist(ADJUSTMENT_KINDS), count })),
        'Counts that were set or imported.',
      ),
      ...fields.answeredConsistency('exact', 'rolled'),
    }),
    problems: DATABASE,
  })

const historyOfType = route('get', '/v1/types/{type}/history', 'read-unless-public', {
  query: () => ({ ...fields.historyQuery(), prefix: fields.prefix() }),
})

export const historyOfTypeContract = () =>
  operation(historyOfType, 'Reading', 'typeHistory', {
    summary: 'Get the history of a type',
    description:
      'The sum of all counters of the type, or of those whose keys begin with a prefix, as of the last roll-up.',
    answers: ok('The counts of the periods.', 'TypeHistory', {
      type: v.string(),
      ...points(),
      ...fields.answeredConsistency('rolled'),
    }),
    problems: ['too_many_keys', ...DATABASE],
  })

export const counterHistory = publicReading<typeof historyOfCounterContract>(
  historyOfCounter,
  (_, { query, ...asked }) => counterHistoryAnswer(asked, query),
)

export const typeHistory = publicReading<typeof historyOfTypeContract>(
  historyOfType,
  async (c, { caller, type, query }) =>
    typeHistoryAnswer(caller, type, await askedPrefix(c, type, query.prefix), query),
)
