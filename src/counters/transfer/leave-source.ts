import type { Database, Executor } from '../../database/database.ts'
import { beforeTransaction } from '../adjust/attempts.ts'
import { startOf } from '../calendar.ts'
import type { CounterAddress } from '../keys/counter-address.ts'
import { ensureNames, markName } from '../keys/names.ts'
import { type DayHistory, removeHistory } from '../ledger/periods.ts'
import { ADJUSTMENTS } from '../ledger/record-adjustments.ts'
import { createTotals, fitsTotal, lockTotals, Overtaken, outOfRange } from '../ledger/totals.ts'
import { laneOf } from '../ranges.ts'
import { isMovable, moveRollUpPage, subtractionsOf } from '../rollup/page.ts'
import { MAX_ADJUSTMENTS, MAX_DAYS, MAX_SLOTS, readDays, readSource, type SourceState } from './counter-state.ts'
import type { Parcel } from './parcel.ts'
import { deleteTransfer, insertTransfer, type Place, type TransferRecord, updateTransfer } from './transfer-records.ts'
import { TransferRefused } from './transfer-refused.ts'
import type { TransferRequest } from './transfer-request.ts'

/**
 * The most statements of a part: BEGIN, state, hours, missing name and total, lock, total, four for the history, two for the
 * adjustments, the record, two for the slots, name, COMMIT, and ROLLBACK if that fails.
 */
export const LEAVE_STATEMENTS = 19
/** The most statements that end a transfer in the source's range: BEGIN, state, lock, total, name, record, COMMIT, and ROLLBACK. */
export const END_STATEMENTS = 8

const BEFORE_ALL = '9999-12-31'

/**
 * Takes the first part of a counter: its whole count, everything that is pending, and the latest days of its history. What is
 * counted after the instant at which it was read belongs to the counter's next life, and stays.
 *
 * @param target the total of the target; 0 if there is none
 * @returns `begun` if the transfer has further steps; `finished` if it is done; `folded` if nothing was taken yet, because some of
 *   the pending counts had to be rolled up first; `missing` if there is no such counter
 * @throws {Overtaken} if other changes of the counter came first
 * @throws {TransferRefused} if its count is not below the bound
 */
export async function beginToLeave(
  db: Database,
  source: CounterAddress,
  request: TransferRequest,
  target: bigint,
): Promise<'begun' | 'finished' | 'folded' | 'missing'> {
  const read = await db.transaction(async (transaction) => {
    // The first statement takes no locks: if its answer is lost, nobody can roll the transaction back.
    const state = await beforeTransaction(
      readSource(transaction, source, { id: request.id, before: BEFORE_ALL, startedAt: null }),
    )
    // Another transfer began in the meantime, or this one has been done by another request.
    if (state.transfers.length > 0) throw new Overtaken()
    if (!state.exists) return 'missing'
    if (state.slots.length > MAX_SLOTS) return state
    const pending = state.slots.reduce((sum, { count }) => sum + count, 0n)
    const amount = state.total + pending
    if (request.below !== null && amount >= request.below) throw new TransferRefused('count_not_below')
    if (request.target !== null && !(fitsTotal(amount) && fitsTotal(amount + target))) throw outOfRange()
    const part = await partOf(transaction, source, state, { isFirst: true, isDeletion: request.target === null })
    const parcel =
      request.target === null
        ? null
        : { amount, days: withPending(part.days, pending, request.at), imported: state.imported }
    const finished = request.target === null && part.isLast
    await takePart(db, transaction, source, state, part, {
      total: 0n,
      balance: -state.total,
      id: request.id,
      at: request.at,
    })
    // Nobody needs the row of a deletion that is finished at once, unless its key must be recognized.
    if (!finished || request.keyed) {
      await insertTransfer(transaction, source, {
        id: request.id,
        role: 'source',
        kind: request.kind,
        other: request.target,
        keyed: request.keyed,
        startedAt: request.at,
        before: part.before ?? dayOf(startOf('day', request.at)),
        step: 1,
        stage: finished ? 'finished' : part.isLast ? 'taken' : 'taking',
        parcel,
      })
    }
    await takeSlots(transaction, source, state, request.target === null)
    if (part.empties) await markName(transaction, source)
    return finished ? 'finished' : 'begun'
  })
  if (typeof read === 'string') return read
  const page = { ...source, version: read.version, total: read.total, slots: slotsOf(source, read) }
  if (!isMovable(page)) throw outOfRange()
  if (read.version === null) await beforeTransaction(ensureNames(db, [source], 1))
  const options = { at: request.at, rangeLane: laneOf(db, source), nowait: true }
  const moved = await moveRollUpPage(db, [page], options)
  if (!moved) throw new Overtaken()
  return 'folded'
}

/**
 * Takes the next part of a counter: earlier days, and after the last of them its adjustments. Everything before must have
 * arrived.
 *
 * @throws {Overtaken} if another request took it first
 */
export async function leaveOn(db: Database, source: CounterAddress, record: TransferRecord, at: Date): Promise<void> {
  await db.transaction(async (transaction) => {
    const state = await beforeTransaction(readSource(transaction, source, record))
    if (!state.transfers.some(({ id, step }) => id === record.id && step === record.step)) throw new Overtaken()
    const part = await partOf(transaction, source, state, { isFirst: false, isDeletion: record.other === null })
    await takePart(db, transaction, source, state, part, { total: state.total, balance: 0n, id: record.id, at })
    const finished = part.isLast && record.other === null
    if (finished && !record.keyed) await deleteTransfer(transaction, source, record)
    else {
      const parcel = part.days.length > 0 ? { amount: 0n, days: part.days, imported: state.imported } : null
      await updateTransfer(transaction, source, record, {
        before: part.before ?? record.before,
        stage: finished ? 'finished' : part.isLast ? 'taken' : 'taking',
        parcel: record.other === null ? null : parcel,
      })
    }
    if (part.empties) await markName(transaction, source)
  })
}

/**
 * Ends a transfer to another counter, where everything has arrived. Only now does the source's name go, and its total, unless it has
 * been counted again. Until then whoever looks for the counter finds it, and sends the request again.
 *
 * @throws {Overtaken} if other changes of the counter came first
 */
export async function endLeaving(db: Database, source: Place, record: TransferRecord): Promise<void> {
  await db.transaction(async (transaction) => {
    const everything = { id: record.id, before: BEFORE_ALL, startedAt: null }
    const state = await beforeTransaction(readSource(transaction, source, everything))
    if (!state.transfers.some(({ id, step }) => id === record.id && step === record.step)) throw new Overtaken()
    const { total, version, slots, days, adjustments, balance } = state
    if (version !== null) await lockTotals(transaction, [source])
    const isBare = total === 0n && balance === null && [slots, days, adjustments].every(({ length }) => length === 0)
    if (isBare && version !== null) {
      await deleteTotal(transaction, source, version)
      await markName(transaction, source)
    }
    if (record.keyed) await updateTransfer(transaction, source, record, { ...record, stage: 'finished', parcel: null })
    else await deleteTransfer(transaction, source, record)
  })
}

/** What leaves a counter in one transaction. */
interface Part {
  days: DayHistory[]
  adjustments: SourceState['adjustments']
  /** The amount that the transfer has recorded as an adjustment of the source so far; `null` if there is none. */
  balance: bigint | null
  /** The earliest of the days; `null` if there are none. */
  before: string | null
  /** Whether nothing is left that the transfer must take. */
  isLast: boolean
  /** Whether nothing at all is left of a counter that is deleted. */
  empties: boolean
}

/** @param options `isFirst`: whether it is the first part, which takes everything that was there before */
async function partOf(
  transaction: Executor,
  source: CounterAddress,
  state: SourceState,
  { isFirst, isDeletion }: { isFirst: boolean; isDeletion: boolean },
): Promise<Part> {
  const { balance } = state
  const days = await readDays(transaction, source, state.days)
  const hasAllDays = days.length < MAX_DAYS
  // Later settings belong to the counter's next life. Marks of imports go last: they explain days without hours.
  const adjustments = hasAllDays ? state.adjustments.slice(0, MAX_ADJUSTMENTS) : []
  const isLast = hasAllDays && adjustments.length === state.adjustments.length
  const sum = [...days, ...adjustments].reduce((sum, { count }) => sum + count, 0n)
  const rest = (balance ?? 0n) + sum - (isFirst ? state.total : 0n)
  const isBare = isFirst || (state.total === 0n && state.slots.length === 0 && !state.hasLater)
  const empties = isDeletion && isLast && isBare && rest === 0n
  return { days, adjustments, balance, before: state.days.at(-1)?.start ?? null, isLast, empties }
}

/** Changes the source's total, history and adjustments, so that the total stays the sum of both. */
async function takePart(
  db: Database,
  transaction: Executor,
  source: CounterAddress,
  state: SourceState,
  part: Part,
  { total, balance, id, at }: { total: bigint; balance: bigint; id: bigint; at: Date },
): Promise<void> {
  const { recordType, recordId } = source
  const counter = { recordType, recordId }
  if (state.version === null) {
    // Read again once there is a version: see `setCounter`. Outside the transaction, so that the rows stay.
    await beforeTransaction(ensureNames(db, [source], 1))
    await beforeTransaction(createTotals(db, [{ ...counter, version: null }]))
    throw new Overtaken()
  }
  await lockTotals(transaction, [counter])
  if (part.empties) await deleteTotal(transaction, source, state.version)
  else {
    const { rowsAffected } = await transaction.execute(
      `UPDATE counter_totals SET count = ?, version = version + 1
       WHERE record_type = ? AND record_id = ? AND version = ?`,
      [total, recordType, recordId, state.version],
    )
    if (rowsAffected !== 1) throw new Overtaken()
  }
  // The adjustments must make up for the days that leave, and for the total.
  const adjusted = part.days.reduce((sum, { count }) => sum + count, balance)
  await removeHistory(transaction, counter, part.days, adjusted, laneOf(db, source))
  const change = part.adjustments.reduce((sum, { count }) => sum + count, adjusted)
  const rest = (part.balance ?? 0n) + change
  const ids = part.adjustments.map((adjustment) => adjustment.id)
  if (part.balance !== null && rest === 0n) ids.push(id)
  if (ids.length > 0) await deleteAdjustments(transaction, source, ids)
  if (rest !== 0n && change !== 0n) await addToBalance(transaction, source, id, { amount: change, at, imported: false })
}

/**
 * Adds to the adjustment by which a transfer balances a counter while its history is on the way.
 *
 * @param change `imported`: whether some days may have no hours
 */
export async function addToBalance(
  transaction: Executor,
  { recordType, recordId }: CounterAddress,
  id: bigint,
  change: { amount: bigint; at: Date; imported: boolean },
): Promise<void> {
  await transaction.execute(
    `INSERT INTO counter_adjustments (record_type, record_id, adjustment_id, kind, adjusted_at, count)
     VALUES (?, ?, ?, ?, ?, ?)
     ON DUPLICATE KEY UPDATE count = count + VALUES(count), kind = GREATEST(kind, VALUES(kind)),
       adjusted_at = GREATEST(adjusted_at, VALUES(adjusted_at))`,
    [recordType, recordId, id, change.imported ? ADJUSTMENTS.import : ADJUSTMENTS.set, change.at, change.amount],
  )
}

async function deleteAdjustments(transaction: Executor, { recordType, recordId }: CounterAddress, ids: bigint[]) {
  await transaction.execute(
    `DELETE FROM counter_adjustments
     WHERE record_type = ${recordType} AND record_id = ${recordId} AND adjustment_id IN (${ids.join(',')})`,
  )
}

/** Subtracts what was pending from the slots. Of a counter that is deleted, deletes the slots that were read. */
async function takeSlots(
  transaction: Executor,
  source: CounterAddress,
  state: SourceState,
  isDeletion: boolean,
): Promise<void> {
  if (state.slots.length > 0) {
    await transaction.execute(
      `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour)
       VALUES ${subtractionsOf([{ ...source, slots: slotsOf(source, state) }])}
       ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
    )
  }
  // A slot with another batch belongs to the next life, and recognizes that batch.
  const read = isDeletion ? [...state.slots, ...state.emptySlots] : []
  if (read.length > 0) {
    const { recordType, recordId } = source
    await transaction.execute(
      `DELETE FROM slotted_counters
       WHERE record_type = ${recordType} AND record_id = ${recordId} AND slot IN (${read.map(({ slot }) => slot).join(',')})
         AND count = 0 AND batch IN (${read.map(({ batch }) => batch).join(',')})`,
    )
  }
}

/** @throws {Overtaken} if it has another version */
async function deleteTotal(transaction: Executor, { recordType, recordId }: Place, version: bigint): Promise<void> {
  const { rowsAffected } = await transaction.execute(
    'DELETE FROM counter_totals WHERE record_type = ? AND record_id = ? AND version = ?',
    [recordType, recordId, version],
  )
  if (rowsAffected !== 1) throw new Overtaken()
}

/** The slots of a state as the roll-up knows them, at most `MAX_SLOTS`. */
function slotsOf({ recordType, recordId }: CounterAddress, { slots }: SourceState) {
  return slots.slice(0, MAX_SLOTS).map(({ slot, count }) => ({ recordType, recordId, slot, count }))
}

/** Days, and what was pending: it belongs to the hour in which it was taken, as in a roll-up. */
function withPending(days: readonly DayHistory[], pending: bigint, at: Date): Parcel['days'] {
  if (pending === 0n) return days
  const hour = { start: startOf('hour', at), count: pending }
  return [...days, { start: startOf('day', at), count: pending, hours: [hour] }]
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}
