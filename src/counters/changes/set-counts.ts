import type { Database } from '../../database/database.ts'
import { byPrimaryKey, type CounterAddress, counterId, distinct } from '../counter-address.ts'
import { placeOf } from '../counters-sql.ts'
import { HistoryAddition } from '../ledger/history-addition.ts'
import { addToSlots, pendingOf, pendingSlotsSql, subtractionsOf } from '../ledger/slots.ts'
import { addToTotals, fitsTotal } from '../ledger/totals.ts'
import { laneOf } from '../ranges.ts'
import { type ChangeKey, checkPending, MAX_TAKEN_SLOTS, makeChange } from './change.ts'

/** The most statements of one attempt: pending slots in both halves of the ids, totals, 3 for history, adjustments, slots. */
const ATTEMPT_STATEMENTS = 8

/** A count that a counter is to have. */
export interface WantedCount {
  counter: CounterAddress
  count: bigint
  /** `set`: the difference is an adjustment. `reading`: it was counted now, and is not below 0. `reset`: below 0, it is an adjustment. */
  as: 'set' | 'reading' | 'reset'
}

/** By how much a count was changed, or why it was not. */
export type CountSet = { added: bigint } | { refused: CountRefusal }
export type CountRefusal = 'reading_below_count' | 'count_out_of_range'

/**
 * Sets counters of one range, in one transaction, each by itself. What is pending is rolled up with it, so the history keeps what was
 * counted. What is counted after the read is added to the new count.
 * @param wanted several of a counter are set in their order
 * @returns in their order; `repeated`: the key was used for the same before, and nothing was changed
 * @throws {ChangeRefused} too many pending slots @throws {KeyReused | Overtaken | DatabaseFailure} as `makeChange`
 */
export async function setCounts(
  db: Database,
  wanted: readonly WantedCount[],
  { key, at }: { key: ChangeKey | null; at: Date },
): Promise<CountSet[] | 'repeated'> {
  const counters = distinct(wanted.map(({ counter }) => counter)).sort(byPrimaryKey)
  // Of the latest attempt. If that of an earlier one turns out to be committed, no later one got this far.
  let made: CountSet[] = []
  const outcome = await makeChange(db, {
    key,
    counters,
    statements: ATTEMPT_STATEMENTS,
    async attempt(transaction, locked) {
      const columns = 'record_type, record_id, slot, count'
      const { rows } = await transaction.execute(pendingSlotsSql(counters, columns, MAX_TAKEN_SLOTS + 1))
      await checkPending(transaction, counters, rows.length)
      const ofCounters = Map.groupBy(rows, (row) => counterId(placeOf(row)))
      const books = counters.map((counter) => {
        const { version, total, gone } = locked(counter)
        const { slots, pending } = pendingOf(ofCounters.get(counterId(counter)) ?? [])
        const book = { version, total, pending, count: total + pending, slots }
        // A counter that does not exist is made, even with 0.
        return { ...counter, ...book, booked: 0n, adjusted: 0n, isGone: gone, isChanged: false }
      })
      const bookOf = new Map(books.map((book) => [counterId(book), book]))
      made = wanted.map(({ counter, count, as }): CountSet => {
        const book = bookOf.get(counterId(counter))!
        const added = count - book.count
        if (added < 0n && as === 'reading') return { refused: 'reading_below_count' }
        // History has 64 bits, adjustments have more.
        const booked = as === 'set' || added < 0n ? 0n : added
        if (![booked, count - book.total, ...book.slots.map((slot) => slot.count)].every(fitsTotal)) {
          return { refused: 'count_out_of_range' }
        }
        book.count = count
        book.booked += booked
        book.adjusted += added - booked
        book.isChanged ||= added !== 0n || book.isGone
        return { added }
      })
      const changed = books.filter(({ isChanged }) => isChanged)
      if (changed.length === 0) return made.some((each) => 'refused' in each) ? 'refused' : undefined
      const totals = changed.map(({ count, total, ...book }) => ({ ...book, amount: count - total, rolledUpAt: at }))
      await addToTotals(transaction, totals)
      const history = new HistoryAddition(laneOf(db, counters[0]!))
      const counted = changed.map((book) => ({ ...book, amount: book.pending + book.booked }))
      history.add(counted, at)
      const adjusted = changed.map((book) => ({ ...book, amount: book.adjusted })).filter(({ amount }) => amount !== 0n)
      history.adjust(adjusted, { kind: 'set', at })
      await history.send(transaction)
      await addToSlots(transaction, subtractionsOf(changed))
    },
  })
  return outcome === 'done' ? made : outcome
}
