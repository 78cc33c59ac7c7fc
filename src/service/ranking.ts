import { isIndexed, MAX_PUBLIC_RANKED_ROWS, MAX_RANKED, readRanking } from '../counters/history/ranking.ts'
import type { Selection } from '../counters/history/selection.ts'
import { type KeysWithPrefix, MAX_PUBLIC_ROWS, TooManyKeys } from '../counters/keys/prefix.ts'
import type { Caller } from './caller.ts'
import { firstHour } from './history.ts'
import { readForAll } from './read.ts'

/** The most counters of an answer of the API. Rankings that add up rows are shared by all that ask for up to so many. */
export const MAX_TOP = 100
/** Milliseconds for which all callers share a ranking that adds up rows. */
const KEPT_MS = 60_000

/**
 * The counters of a type or a prefix with the highest counts in a period (`null`: all time), as of the last roll-up. @throws {TooManyKeys}
 * @param limit at most `MAX_RANKED` @returns `asOf`: when a ranking was read that was kept from an earlier request
 */
export async function readTop(caller: Caller, of: KeysWithPrefix, period: Selection | null, limit: number) {
  const hoursFrom = firstHour(caller.isolate.config)
  if (isIndexed(of, period)) {
    return { counters: await readRanking(caller.db, of, period, { limit, hoursFrom }), asOf: null }
  }
  const few = of.name === '' ? MAX_PUBLIC_RANKED_ROWS : MAX_PUBLIC_ROWS
  const hasToken = await caller.hasToken()
  if (hasToken) {
    const fresh = await unlessTooMany(readRanking(caller.db, of, period, { limit, maxRows: few, hoursFrom }))
    if (fresh !== null) return { counters: fresh, asOf: null }
  }
  const maxRows = hasToken ? undefined : few
  const most = limit <= MAX_TOP ? MAX_TOP : MAX_RANKED
  const runs = period?.flatMap(({ unit, from, to, sign }) => [unit, from, to, Number(sign)]) ?? []
  const question = ['top', of.recordType, of.name, most, maxRows ?? null, ...runs]
  const { value, asOf } = await readForAll(caller, question, KEPT_MS, () =>
    readRanking(caller.db, of, period, { limit: most, maxRows, hoursFrom }),
  )
  return { counters: value.slice(0, limit), asOf }
}

/** `null`: too many rows would be added up. @throws what `ranking` throws otherwise */
export async function unlessTooMany<Value>(ranking: Promise<Value>): Promise<Value | null> {
  return ranking.catch((error: unknown) => {
    if (error instanceof TooManyKeys) return null
    throw error
  })
}
