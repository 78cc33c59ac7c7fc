import * as v from 'valibot'
import { HISTORY_UNITS, MAX_POINTS } from '../counters/history/history-range.ts'
import { ADJUSTMENT_KINDS } from '../counters/ledger/totals.ts'
import { askedPrefix } from '../http/authorization.ts'
import { publicReading } from '../http/endpoint.ts'
import { count, described, instant, namedObject, ok, operation, route } from '../openapi/contract.ts'
import { consistencyFields, historyQuery, prefixField } from '../openapi/fields.ts'
import { DATABASE } from '../openapi/problems.ts'
import { counterHistory as readHistory, typeHistory as readTypeHistory } from '../service/history.ts'

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
  query: historyQuery,
})

export const historyOfCounterContract = () =>
  operation(historyOfCounter, {
    id: 'history',
    tag: 'Reading',
    summary: 'Get the history of a counter',
    description: `Returns counts by hour, day, week (from Monday) or month of a time zone, for up to ${MAX_POINTS} periods. Pending counts belong to the current period. Very many pending counts are left out; without a token, a long history may be ten seconds old. \`consistency\` says so.`,
    answers: ok(
      'The counts of the periods, and the adjustments.',
      namedObject('History', {
        type: v.string(),
        key: v.string(),
        ...points(),
        adjustments: described(
          v.array(v.strictObject({ at: instant, kind: v.picklist(ADJUSTMENT_KINDS), count })),
          'Counts that were set or imported.',
        ),
        ...consistencyFields('exact', 'rolled'),
      }),
    ),
    problems: DATABASE,
  })

const historyOfType = route('get', '/v1/types/{type}/history', 'read-unless-public', {
  query: () => ({ ...historyQuery(), prefix: prefixField() }),
})

export const historyOfTypeContract = () =>
  operation(historyOfType, {
    id: 'typeHistory',
    tag: 'Reading',
    summary: 'Get the history of a type',
    description:
      'The sum of all counters of the type, or of those whose keys begin with a prefix, as of the last roll-up.',
    answers: ok(
      'The counts of the periods.',
      namedObject('TypeHistory', { type: v.string(), ...points(), ...consistencyFields('rolled') }),
    ),
    problems: ['too_many_keys', ...DATABASE],
  })

export const counterHistory = publicReading<typeof historyOfCounterContract>(
  historyOfCounter,
  async (_, { caller, type, key, counter, query }) => {
    const { history, maxAge } = await readHistory(caller, counter, query)
    return { answer: { type: type.name, key, ...history }, maxAge }
  },
)

export const typeHistory = publicReading<typeof historyOfTypeContract>(
  historyOfType,
  async (c, { caller, type, query }) => {
    const prefix = await askedPrefix(c, type, query.prefix)
    const { history, maxAge } = await readTypeHistory(caller, type, prefix, query)
    return { answer: { type: type.name, ...history }, maxAge }
  },
)
