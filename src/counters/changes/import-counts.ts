import type { Database } from '../../database/database.ts'
import { startOf } from '../calendar.ts'
import { byPrimaryKey, type CounterAddress, counterId } from '../counter-address.ts'
import { hash64 } from '../ids.ts'
import { HistoryAddition } from '../ledger/history-addition.ts'
import { addToTotals, checkTotals } from '../ledger/totals.ts'
import { boundsOf, LARGEST_ID, laneOf, MAX_RANGES, rangeOf } from '../ranges.ts'
import { ChangeRefused, KeyReused, makeChange, readContents } from './change.ts'

/** The most statements of one attempt: the key elsewhere, totals, 3 for history, adjustments. */
const ATTEMPT_STATEMENTS = 6

export interface ImportRow {
  counter: CounterAddress
  count: bigint
  /** Any instant of its UTC day; `null` if the day is unknown. */
  day: Date | null
  /** Whether the hour of the instant is known too. */
  known?: 'hour' | 'day'
}

/**
 * Adds counts from elsewhere to counters of one range: all or none. Those without a day become adjustments. Every counter gets an
 * adjustment, if only of 0: it says that days may exceed their hours.
 * @param options `id`: the hash of the idempotency key; `hoursFrom`: earlier hours are not kept, so their counts enter the day alone
 * @returns `repeated` if it was imported before, even with other ranges
 * @throws {ChangeRefused} other ranges @throws {KeyReused | Overtaken | DatabaseFailure} as `makeChange`, or a total leaves 64 bits
 */
export async function importCounts(
  db: Database,
  rows: readonly ImportRow[],
  { id, at, hoursFrom = new Date(0) }: { id: bigint; at: Date; hoursFrom?: Date },
) {
  const contents = await hash64(contentsOf(rows))
  const imports = sumByCounter(rows)
  const least = imports.reduce((least, { recordId }) => (recordId < least ? recordId : least), LARGEST_ID)
  const range = rangeOf(least, db.ranges)
  if (imports.some(({ recordId }) => rangeOf(recordId, db.ranges) !== range)) {
    const stored = await readContents(db, id, keyPlaces(least))
    if (stored === contents) return 'repeated' as const
    throw stored === null ? new ChangeRefused('different_ranges') : new KeyReused()
  }
  const current = boundsOf(range, db.ranges).first
  const elsewhere = keyPlaces(least).filter((place) => place !== current)
  return makeChange(db, {
    key: { recordId: current, elsewhere, hash: id, contents },
    counters: imports,
    statements: ATTEMPT_STATEMENTS,
    async attempt(transaction, locked) {
      const changes = imports.map((counter) => {
        const { version, total } = locked(counter)
        checkTotals([counter.amount, total + counter.amount])
        return { ...counter, version }
      })
      // The lock order of roll-ups: totals, days, types.
      await addToTotals(transaction, changes)
      const history = new HistoryAddition(laneOf(db, imports[0]!))
      for (const { days, ...counter } of imports) {
        for (const { at, known, amount } of days) {
          history.add([{ ...counter, amount }], at, at < hoursFrom ? 'day' : known)
        }
      }
      const undated = imports.map((counter) => ({ ...counter, amount: counter.undated }))
      history.adjust(undated, { kind: 'import', at })
      await history.send(transaction)
    },
  })
}

/** Where the key of an import may be stored, with any number of ranges: at the start of the range of the least record id. */
function keyPlaces(least: bigint): bigint[] {
  const places = new Set<bigint>()
  for (let ranges = 1; ranges <= MAX_RANGES; ranges *= 2) places.add(boundsOf(rangeOf(least, ranges), ranges).first)
  return [...places]
}

/** The same text for the same rows in any order. */
function contentsOf(rows: readonly ImportRow[]): string {
  const lines = rows.map(({ counter: { recordType, recordId }, count, day, known = 'day' }) => {
    const time = day === null ? '' : startOf(known, day).toISOString() + (known === 'hour' ? ' hour' : '')
    return [recordType, recordId, count, time].join()
  })
  return lines.sort().join('\n')
}

/** What to add to each counter. `undated`: the part of `amount` without a day */
function sumByCounter(rows: readonly ImportRow[]) {
  const sumOf = (some: readonly ImportRow[]) => some.reduce((sum, { count }) => sum + count, 0n)
  const imports = [...Map.groupBy(rows, ({ counter }) => counterId(counter)).values()].map((ofCounter) => ({
    ...ofCounter[0]!.counter,
    amount: sumOf(ofCounter),
    undated: sumOf(ofCounter.filter(({ day }) => day === null)),
    days: ofCounter.flatMap(({ day, known = 'day', count }) => (day === null ? [] : { at: day, known, amount: count })),
  }))
  return imports.sort(byPrimaryKey)
}
