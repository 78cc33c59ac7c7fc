import type { Database, Executor } from '../../database/database.ts'
import { hasErrorNumber } from '../../database/errors.ts'
import { counterSql, HOUR_SQL } from '../counters-sql.ts'
import { random63 } from '../ids.ts'
import { byPrimaryKey, type CounterAddress } from '../keys/counter-address.ts'
import { ensureNames, markName } from '../keys/names.ts'
import { removeFromType } from '../ledger/periods.ts'
import {
  changingTotals,
  createTotals,
  fitsTotal,
  lockTotals,
  newVersion,
  Overtaken,
  outOfRange,
  type TotalsStore,
} from '../ledger/totals.ts'
import { laneOf, rangeOf } from '../ranges.ts'
import { subtractionsOf } from '../rollup/page.ts'
import { ChangeRefused, keyOfCounter, makeChange } from './change.ts'
import { type CounterState, MAX_ROWS, readDays, readState } from './counter-state.ts'

/** The most of one attempt: BEGIN, state, 2 for a name, lock, 2 totals, slots, 6 for history, name, COMMIT, ROLLBACK. */
const ATTEMPT_STATEMENTS = 17

/** MySQL's error number of a duplicate key. */
const DUPLICATE = 1062

export interface MoveRequest {
  kind: 'delete' | 'rename' | 'merge'
  /** Receives everything; of the same type. `null` for deletions. */
  target: CounterAddress | null
  /** Only if its count is below this number. */
  below: bigint | null
  /** The hash of an idempotency key, which may be used for several counters. */
  key: bigint | null
}

/**
 * Deletes a counter, or moves everything that it has to another one, in one transaction. What is counted after the read begins
 * a new counter under the old key. The locked total keeps roll-ups and other changes out. Pending counts are taken from the
 * slots as a roll-up takes them, and stay pending at the target. The history of the type changes only if something is deleted.
 * @throws {ChangeRefused | KeyReused} nothing was changed
 * @throws {Overtaken} other changes came first every time; nothing was changed
 * @throws {DatabaseFailure} of kind `range` if the target's total would leave 64 bits; others may have an unknown outcome
 */
export async function moveCounter(
  store: TotalsStore,
  source: CounterAddress,
  request: MoveRequest,
): Promise<'done' | 'repeated'> {
  const { kind, target, below } = request
  const { ranges } = store.db
  if (target !== null && rangeOf(source.recordId, ranges) !== rangeOf(target.recordId, ranges)) {
    throw new ChangeRefused('different_ranges')
  }
  const key = await keyOfCounter(request.key, 'move', source, `${kind} ${target?.recordId ?? ''} ${below ?? ''}`)
  return changingTotals(store, (database) =>
    makeChange(database, {
      key,
      statements: ATTEMPT_STATEMENTS,
      attempt: (transaction, db) => attemptToMove(transaction, db, source, request),
    }),
  )
}

async function attemptToMove(
  transaction: Executor,
  db: Database,
  source: CounterAddress,
  { kind, target, below }: MoveRequest,
): Promise<void> {
  const state = await readState(transaction, source, target)
  const pending = state.slots.reduce((sum, { count }) => sum + count, 0n)
  const amount = state.total + pending
  if (!state.exists) throw new ChangeRefused('no_such_counter')
  if (kind === 'rename' && state.target.exists) throw new ChangeRefused('counter_exists')
  if (kind === 'merge' && !state.target.exists) throw new ChangeRefused('no_such_target')
  if (below !== null && amount >= below) throw new ChangeRefused('count_not_below')
  if (state.rows > MAX_ROWS) throw new ChangeRefused('history_too_large')
  if (target !== null) {
    if (![amount, pending, state.target.total + amount].every(fitsTotal)) throw outOfRange()
    await ensureNames(db, [target], 1)
  }
  if (state.version === null) {
    // Read again: without a version, nothing would reveal that pending counts were taken meanwhile.
    await createTotals(db, [{ ...source, version: null }])
    throw new Overtaken()
  }
  await takeTotals(transaction, source, target, { ...state, version: state.version })
  await takeSlots(transaction, source, target, state.slots, pending)
  if (target === null) await deleteHistory(transaction, db, source, state)
  else await moveHistory(transaction, source, target)
  await markName(transaction, source)
}

/** Moves the total, or deletes it. @throws {Overtaken} if a total changed since it was read, or is about to */
async function takeTotals(
  transaction: Executor,
  source: CounterAddress,
  target: CounterAddress | null,
  state: CounterState & { version: bigint },
): Promise<void> {
  const guarded = target === null || state.target.version === null ? [source] : [source, target]
  await lockTotals(transaction, guarded.sort(byPrimaryKey))
  const { rowsAffected: deleted } = await transaction.execute(
    `DELETE FROM counter_totals WHERE ${counterSql(source)} AND version = ${state.version}`,
  )
  if (deleted !== 1) throw new Overtaken()
  if (target === null) return
  if (state.target.version === null) {
    await insertTotal(transaction, target, state.total)
    return
  }
  const { rowsAffected: updated } = await transaction.execute(
    `UPDATE counter_totals SET count = count + ${state.total}, version = version + 1
     WHERE ${counterSql(target)} AND version = ${state.target.version}`,
  )
  if (updated !== 1) throw new Overtaken()
}

/** @throws {Overtaken} if somebody else was faster */
async function insertTotal(transaction: Executor, counter: CounterAddress, count: bigint): Promise<void> {
  try {
    await transaction.execute(
      `INSERT INTO counter_totals (record_type, record_id, count, version, rolled_up_at)
       VALUES (${counter.recordType}, ${counter.recordId}, ${count}, ${newVersion()}, NULL)`,
    )
  } catch (error) {
    throw hasErrorNumber(error, DUPLICATE) ? new Overtaken() : error
  }
}

/** Empties slots into a new slot of the target. Empty slots stay until they are pruned: they recognize repeated batches. */
async function takeSlots(
  transaction: Executor,
  { recordType, recordId }: CounterAddress,
  target: CounterAddress | null,
  slots: CounterState['slots'],
  pending: bigint,
): Promise<void> {
  if (slots.length === 0) return
  const subtractions = subtractionsOf([
    { recordType, recordId, slots: slots.map((slot) => ({ recordType, recordId, ...slot })) },
  ])
  const added =
    target === null || pending === 0n
      ? ''
      : `,(${target.recordType},${target.recordId},${random63()},${pending},${random63()},${HOUR_SQL})`
  await transaction.execute(
    `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, kept_until)
     VALUES ${subtractions}${added}
     ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
  )
}

const HISTORY = {
  counter_history: 'period_start, count',
  counter_periods: 'period, period_start, count',
  counter_adjustments: 'adjustment_id, kind, adjusted_at, count',
} as const

async function moveHistory(transaction: Executor, source: CounterAddress, target: CounterAddress): Promise<void> {
  for (const [table, columns] of Object.entries(HISTORY)) {
    await transaction.execute(
      `INSERT INTO ${table} (record_type, record_id, ${columns})
       SELECT record_type, ${target.recordId}, ${columns} FROM ${table} AS old WHERE ${counterSql(source)}
       ON DUPLICATE KEY UPDATE count = ${table}.count + VALUES(count)`,
    )
    await transaction.execute(`DELETE FROM ${table} WHERE ${counterSql(source)}`)
  }
}

/** Deletes the history, and takes it out of that of the type. */
async function deleteHistory(
  transaction: Executor,
  db: Database,
  source: CounterAddress,
  { adjustments, rows }: CounterState,
): Promise<void> {
  if (rows === 0) return
  const days = await readDays(transaction, source)
  await removeFromType(transaction, source, days, adjustments, laneOf(db, source))
  for (const table of Object.keys(HISTORY))
    await transaction.execute(`DELETE FROM ${table} WHERE ${counterSql(source)}`)
}
