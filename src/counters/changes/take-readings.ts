import type { Database } from '../../database/database.ts'
import { byPrimaryKey, type CounterAddress, counterId, distinct } from '../counter-address.ts'
import { counterListsSql, placeOf } from '../counters-sql.ts'
import { HistoryAddition } from '../ledger/history-addition.ts'
import { addToSlots, pendingOf, subtractionsOf } from '../ledger/slots.ts'
import { addToTotals, fitsTotal } from '../ledger/totals.ts'
import { laneOf } from '../ranges.ts'
import { type ChangeKey, ChangeRefused, MAX_TAKEN_SLOTS, makeChange } from './change.ts'

/** The most statements of one attempt: pending slots in both halves of the ids, totals, 3 for history, adjustments, slots. */
const ATTEMPT_STATEMENTS = 8

/** A count that arises elsewhere, as it is read there. */
export interface CountReading {
  counter: CounterAddress
  count: bigint
  /** Whether it may be below the counter's count. */
  reset: boolean
}

/** What became of a reading: by how much it changed the count, or why nothing was changed. */
export type TakenReading = { added: bigint } | { refused: 'reading_below_count' | 'count_out_of_range' }

/**
 * Takes readings of counters of one range, in one transaction, each by itself: the count becomes that of the reading, and the
 * difference is booked as counted now. The same reading again adds nothing. What is pending is rolled up, as by `setCounter`. A reading
 * that resets a counter to less leaves the history as it is: the difference is an adjustment.
 * @param readings several of a counter are taken in their order
 * @returns in their order; `repeated` if the key was used for the same before
 * @throws {KeyReused | ChangeRefused | Overtaken} as `makeChange`; also if too much is pending
 */
export async function takeReadings(
  db: Database,
  readings: readonly CountReading[],
  { key, at }: { key: ChangeKey | null; at: Date },
): Promise<TakenReading[] | 'repeated'> {
  const counters = distinct(readings.map(({ counter }) => counter)).sort(byPrimaryKey)
  let taken: TakenReading[] = []
  const outcome = await makeChange(db, {
    key,
    counters,
    statements: ATTEMPT_STATEMENTS,
    async attempt(transaction, locked) {
      const lists = counterListsSql(counters, '', 'pending').map(
        (list) => `(SELECT record_type, record_id, slot, count FROM slotted_counters FORCE INDEX (pending)
          WHERE pending = 1 AND ${list} LIMIT ${MAX_TAKEN_SLOTS + 1})`,
      )
      const { rows } = await transaction.execute(lists.join(' UNION ALL '))
      if (rows.length > MAX_TAKEN_SLOTS) throw new ChangeRefused('too_many_pending')
      const ofCounters = Map.groupBy(rows, (row) => counterId(placeOf(row)))
      const books = counters.map((counter) => {
        const { version, total, gone } = locked(counter)
        const { slots, pending } = pendingOf(ofCounters.get(counterId(counter)) ?? [])
        const book = { version, total, pending, count: total + pending, slots }
        // A counter that does not exist is made, even by a reading of 0.
        return { ...counter, ...book, booked: 0n, adjusted: 0n, isGone: gone, isChanged: false }
      })
      const bookOf = new Map(books.map((book) => [counterId(book), book]))
      taken = readings.map(({ counter, count, reset }): TakenReading => {
        const book = bookOf.get(counterId(counter))!
        const added = count - book.count
        if (added < 0n && !reset) return { refused: 'reading_below_count' }
        if (![added, count - book.total, ...book.slots.map((slot) => slot.count)].every(fitsTotal)) {
          return { refused: 'count_out_of_range' }
        }
        book.count = count
        if (added > 0n) book.booked += added
        else book.adjusted += added
        book.isChanged ||= added !== 0n || book.isGone
        return { added }
      })
      const changed = books.filter(({ isChanged }) => isChanged)
      if (changed.length === 0) return
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
  return outcome === 'done' ? taken : outcome
}
