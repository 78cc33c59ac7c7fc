import type { Database } from '../../database/database.ts'
import type { CounterAddress } from '../counter-address.ts'
import { HistoryAddition } from '../ledger/history-addition.ts'
import { addToSlots, pendingOf, pendingSlotsOfKeySql, subtractionsOf } from '../ledger/slots.ts'
import { addToTotals, checkTotals } from '../ledger/totals.ts'
import { laneOf } from '../ranges.ts'
import { checkPending, keyOfCounter, MAX_TAKEN_SLOTS, makeChange } from './change.ts'

/** The most statements of one attempt: read, total, 3 for history and sums, adjustment, slots. */
const ATTEMPT_STATEMENTS = 7

/**
 * Sets a counter: its total becomes the requested count. What is pending is rolled up in the same transaction, so the history keeps
 * what was counted. The rest of the difference is recorded as an adjustment. What is counted after the read is added to the new count.
 * @returns `repeated` if the same setting was applied before; nothing was changed, even if the count has moved since. `added`: the
 *   adjustment; `null` if repeated
 * @throws {KeyReused | ChangeRefused | Overtaken | DatabaseFailure} as `makeChange`; of kind `range` if a slot, or the difference of
 *   the totals, leaves 64 bits
 */
export async function setCounter(
  db: Database,
  counter: CounterAddress,
  { count, id, at }: { count: bigint; id: bigint | null; at: Date },
): Promise<{ outcome: 'set' | 'repeated'; added: bigint | null }> {
  const key = await keyOfCounter(id, 'set', counter, `count ${count}`)
  // Of the latest attempt. If that of an earlier one turns out to be committed, no later one got this far.
  let added: bigint | null = null
  const outcome = await makeChange(db, {
    key,
    counters: [counter],
    statements: ATTEMPT_STATEMENTS,
    async attempt(transaction, locked) {
      const { version, total } = locked(counter)
      const { rows } = await transaction.execute(
        `SELECT slot, count ${pendingSlotsOfKeySql([counter], MAX_TAKEN_SLOTS + 1)}`,
      )
      await checkPending(transaction, [counter], rows.length)
      const { slots, pending } = pendingOf(rows)
      checkTotals([count - total, ...slots.map(({ count }) => count)])
      added = count - total - pending
      const rolledUpAt = slots.length > 0 ? at : null
      await addToTotals(transaction, [{ ...counter, version, amount: count - total, rolledUpAt }])
      const history = new HistoryAddition(laneOf(db, counter))
      history.add([{ ...counter, amount: pending }], at)
      history.adjust([{ ...counter, amount: added }], { kind: 'set', at })
      await history.send(transaction)
      await addToSlots(transaction, subtractionsOf([{ ...counter, slots }]))
    },
  })
  return outcome === 'done' ? { outcome: 'set', added } : { outcome, added: null }
}
