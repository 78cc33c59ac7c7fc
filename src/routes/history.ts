import { type HistoryRange, type HistoryUnit, historyRange } from '../counters/history/range.ts'
import {
  type CounterHistory,
  readCounterHistory,
  readPrefixHistory,
  readTypeHistory,
} from '../counters/history/read-history.ts'
import { totalOf } from '../counters/history/read-total.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { askedPrefix } from '../http/asked-prefix.ts'
import { databaseOf } from '../http/database-of.ts'
import { publicReading } from '../http/endpoint.ts'
import {
  historyOfCounter,
  type historyOfCounterContract,
  historyOfType,
  type historyOfTypeContract,
} from './history-contract.ts'

/** Seconds for which a range in the past may be cached. Not longer, because an import may still add to it. */
const PAST_MAX_AGE = 300
/** Milliseconds after which a range is in the past: every roll-up that began within it has ended. */
const OVER_MS = 900_000

/** What was counted when, of one counter. */
export const counterHistory = publicReading<typeof historyOfCounterContract>(
  historyOfCounter,
  async (c, { type, key, counter, query }) => {
    const now = new Date()
    const range = askedRange(query, now)
    const history = await readCounterHistory(databaseOf(c), counter, range, now)
    const answer = { type: type.name, key, ...historyAnswer(range, history, toJsonNumber) }
    return { answer, maxAge: maxAgeOf(range, now) }
  },
)

/** What was counted when, of all counters of a type together, or of those whose keys begin with a prefix. */
export const typeHistory = publicReading<typeof historyOfTypeContract>(historyOfType, async (c, { type, query }) => {
  const now = new Date()
  const range = askedRange(query, now)
  const prefix = await askedPrefix(c, type, query.prefix)
  const db = databaseOf(c)
  const counts =
    prefix === null
      ? await readTypeHistory(db, type.recordType, range)
      : await readPrefixHistory(db, await totalOf(type.recordType, prefix), range)
  return { answer: { type: type.name, ...toAnswer(range, counts, toJsonNumber) }, maxAge: maxAgeOf(range, now) }
})

type HistoryQuery = { by: HistoryUnit; from?: string | undefined; to?: string | undefined; tz: string }

/** The range that a query asks for. */
export function askedRange({ by, from, to, tz }: HistoryQuery, now: Date): HistoryRange {
  return historyRange({ by, timeZone: tz, from, to }, now)
}

/** What is answered about the history of a counter. */
export function historyAnswer<Count>(
  range: HistoryRange,
  { counts, adjustments }: CounterHistory,
  toCount: (count: bigint) => Count,
) {
  return {
    ...toAnswer(range, counts, toCount),
    adjustments: adjustments.map(({ at, kind, count }) => ({ at: at.toISOString(), kind, count: toCount(count) })),
  }
}

function toAnswer<Count>(
  { by, zone, edges }: HistoryRange,
  counts: readonly bigint[],
  toCount: (count: bigint) => Count,
) {
  const times = edges.map((edge) => zone.clockTime(edge))
  const points = counts.map((count, index) => ({ start: times[index]!, count: toCount(count) }))
  return { by, timeZone: zone.name, from: times[0]!, to: times.at(-1)!, points }
}

function maxAgeOf({ edges }: HistoryRange, now: Date): number | null {
  return edges.at(-1)! < now.getTime() - OVER_MS ? PAST_MAX_AGE : null
}
