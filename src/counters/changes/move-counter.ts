import type { Database, Executor } from '../../database/database.ts'
import { hasErrorNumber } from '../../database/errors.ts'
import { toBigInt, toDate } from '../../database/values.ts'
import { PERIODS } from '../calendar.ts'
import { counterSql, HOUR_SQL, pendingSlotsSql, sameKeySql } from '../counters-sql.ts'
import { random63 } from '../ids.ts'
import { byPrimaryKey, type CounterAddress, type CounterPlace } from '../keys/counter-address.ts'
import { ensureNames, markNames } from '../keys/names.ts'
import { addToTypes, type CalendarAmounts, type DayAmount } from '../ledger/periods.ts'
import {
  addToTotals,
  createTotals,
  fitsTotal,
  lockTotals,
  newVersion,
  Overtaken,
  outOfRange,
  type TotalsStore,
} from '../ledger/totals.ts'
import { laneOf, rangeOf } from '../ranges.ts'
import { subtractionsOf } from '../rollup/roll-up-page.ts'
import { ChangeRefused, keyOfCounter, makeChange } from './change.ts'

/** MySQL's error number of a duplicate key. */
const DUPLICATE = 1062

export interface MoveRequest {
  kind: 'delete' | 'rename' | 'merge'
  /** Receives everything; of the same type. `null` for deletions. */
  target: CounterAddress | null
  /** Record types in which the counter of the same key, if there is one, is moved or deleted too. */
  also: readonly number[]
  /** Only if its count is below this number. */
  below: bigint | null
  /** The hash of an idempotency key, which may be used for several counters. */
  key: bigint | null
}

/** The most of one attempt: BEGIN, state, name, lock, total, slots, 6 for history, names, COMMIT, ROLLBACK, and 3 for each type. */
const attemptStatements = (types: number) => 14 + 3 * types

/**
 * Deletes a counter, or moves everything that it has to another one, in one transaction; also the counters of its key in further
 * types, which are in the same range because their record id is the same. These are added to what the target's key has. What is
 * counted after the read begins a new counter under the old key. The locked totals keep roll-ups and other changes out. Pending
 * counts are taken from the slots as a roll-up takes them, and stay pending at the target. The history of a type changes only
 * if something is deleted.
 * @throws {ChangeRefused | KeyReused} nothing was changed
 * @throws {Overtaken} other changes came first every time; nothing was changed
 * @throws {DatabaseFailure} of kind `range` if a target's total would leave 64 bits; others may have an unknown outcome
 */
export async function moveCounter(
  store: TotalsStore,
  source: CounterAddress,
  request: MoveRequest,
): Promise<'done' | 'repeated'> {
  const { kind, target, also, below } = request
  const { ranges } = store.db
  if (target !== null && rangeOf(source.recordId, ranges) !== rangeOf(target.recordId, ranges)) {
    throw new ChangeRefused('different_ranges')
  }
  const asked = [kind, target?.recordId ?? '', below ?? '', ...also].join(' ')
  const key = await keyOfCounter(request.key, 'move', source, asked)
  return makeChange(store, {
    key,
    statements: attemptStatements(1 + also.length),
    attempt: (transaction, db) => attemptToMove(transaction, db, source, request),
  })
}

async function attemptToMove(
  transaction: Executor,
  db: Database,
  { recordType, recordId }: CounterAddress,
  { kind, target, also, below }: MoveRequest,
): Promise<void> {
  const asked = [recordType, ...also].map((type) => ({ recordType: type, recordId })).sort(byPrimaryKey)
  const { states, rows } = await readStates(transaction, asked, target?.recordId ?? null)
  const own = states.find((state) => state.recordType === recordType)!
  if (!own.exists) throw new ChangeRefused('no_such_counter')
  if (kind === 'rename' && own.target.exists) throw new ChangeRefused('counter_exists')
  if (kind === 'merge' && !own.target.exists) throw new ChangeRefused('no_such_target')
  if (below !== null && own.total + own.pending >= below) throw new ChangeRefused('count_not_below')
  if (rows > MAX_ROWS) throw new ChangeRefused('history_too_large')
  const found = states.filter(({ exists }) => exists)
  if (target !== null) {
    const sums = found.flatMap(({ total, pending, target }) => [
      total + pending,
      pending,
      target.total + total + pending,
    ])
    if (!sums.every(fitsTotal)) throw outOfRange()
    await ensureNames(
      db,
      found.map((state) => ({ ...target, recordType: state.recordType })),
    )
  }
  const counters = await createTotals(db, found)
  // Read again: without a version, nothing would reveal that pending counts were taken meanwhile.
  if (found.some(({ version }) => version === null)) throw new Overtaken()
  const targetId = target?.recordId ?? null
  await takeTotals(transaction, counters, targetId)
  await takeSlots(transaction, counters, targetId)
  if (rows > 0) await takeHistory(transaction, db, counters, targetId)
  await markNames(transaction, counters)
}

/** Moves the totals, or deletes them. @throws {Overtaken} if a total changed since it was read, or is about to */
async function takeTotals(
  transaction: Executor,
  counters: readonly (CounterState & { version: bigint })[],
  targetId: bigint | null,
): Promise<void> {
  const moved = targetId === null ? [] : counters
  const guarded = moved.flatMap(({ recordType, total, target: { version } }) =>
    version === null ? [] : { recordType, recordId: targetId!, version, amount: total },
  )
  await lockTotals(transaction, [...counters, ...guarded].sort(byPrimaryKey))
  const lacking = moved.filter(({ target }) => target.version === null)
  if (lacking.length > 0) await copyTotals(transaction, lacking, targetId!)
  for (const counter of counters) {
    const { rowsAffected } = await transaction.execute(
      `DELETE FROM counter_totals WHERE ${counterSql(counter)} AND version = ${counter.version}`,
    )
    if (rowsAffected !== 1) throw new Overtaken()
  }
  if (guarded.length > 0) await addToTotals(transaction, guarded, null)
}

/** Gives the other key the totals that it lacks, with the times of their roll-ups. @throws {Overtaken} if somebody else was faster */
async function copyTotals(transaction: Executor, totals: readonly CounterPlace[], targetId: bigint): Promise<void> {
  try {
    await transaction.execute(
      `INSERT INTO counter_totals (record_type, record_id, count, version, rolled_up_at)
       SELECT record_type, ${targetId}, count, ${newVersion()}, rolled_up_at FROM counter_totals AS old WHERE ${sameKeySql(totals)}`,
    )
  } catch (error) {
    throw hasErrorNumber(error, DUPLICATE) ? new Overtaken() : error
  }
}

/** Empties slots into a new slot of each target. Empty slots stay until they are pruned: they recognize repeated batches. */
async function takeSlots(
  transaction: Executor,
  counters: readonly CounterState[],
  targetId: bigint | null,
): Promise<void> {
  const subtractions = subtractionsOf(counters)
  if (subtractions === '') return
  const moved = targetId === null ? [] : counters.filter(({ pending }) => pending !== 0n)
  const added = moved.map(
    ({ recordType, pending }) => `,(${recordType},${targetId},${random63()},${pending},${random63()},${HOUR_SQL})`,
  )
  await transaction.execute(
    `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, kept_until)
     VALUES ${subtractions}${added.join('')}
     ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
  )
}

const HISTORY = {
  counter_history: 'period_start, count',
  counter_periods: 'period, period_start, count',
  counter_adjustments: 'adjustment_id, kind, adjusted_at, count',
} as const

/** Moves the history, or deletes it and takes it out of that of the types. */
async function takeHistory(
  transaction: Executor,
  db: Database,
  counters: readonly CounterState[],
  targetId: bigint | null,
): Promise<void> {
  for (const counter of targetId === null ? counters : []) {
    await addToTypes(transaction, await readDeleted(transaction, counter), laneOf(db, counter))
  }
  for (const [table, columns] of Object.entries(HISTORY)) {
    if (targetId !== null) {
      await transaction.execute(
        `INSERT INTO ${table} (record_type, record_id, ${columns})
         SELECT record_type, ${targetId}, ${columns} FROM ${table} AS old WHERE ${sameKeySql(counters)}
         ON DUPLICATE KEY UPDATE count = ${table}.count + VALUES(count)`,
      )
    }
    await transaction.execute(`DELETE FROM ${table} WHERE ${sameKeySql(counters)}`)
  }
}

/** The most rows of slots, history and adjustments that one change deletes or moves. */
export const MAX_ROWS = 50_000

/** A counter at one instant, and the target of its move: the counter of another key in the same type. */
interface CounterState extends CounterPlace {
  /** Whether it has a total, a pending count, or a name that is not marked. */
  exists: boolean
  total: bigint
  /** The version of its total; `null` if it has none. */
  version: bigint | null
  /** In primary key order. */
  slots: { slot: bigint; count: bigint }[]
  pending: bigint
  adjustments: bigint
  target: { exists: boolean; total: bigint; version: bigint | null }
}

/**
 * Reads the counters of one key, from one snapshot and without locks. vtgate may read the targets apart, so the versions of all
 * totals must guard the result.
 * @param counters in primary key order
 * @param targetId the record id of the other key; `null` if there is none
 * @returns `states` in the order of the counters; `rows`: slots, hours, periods and adjustments of all of them, more than
 *   `MAX_ROWS` if there are too many
 */
async function readStates(
  db: Executor,
  counters: readonly CounterPlace[],
  targetId: bigint | null,
): Promise<{ states: CounterState[]; rows: number }> {
  const where = `WHERE ${sameKeySql(counters)}`
  const counted = (table: string) =>
    `UNION ALL SELECT 'rows', COUNT(*), 0, 0 FROM (SELECT 1 FROM ${table} FORCE INDEX (PRIMARY) ${where} LIMIT ${MAX_ROWS + 1}) AS r`
  const targets = targetId === null ? [] : counters.map(({ recordType }) => ({ recordType, recordId: targetId }))
  const { rows } = await db.execute(
    `SELECT 'total' AS part, version AS id, count, record_type FROM counter_totals ${where}
     UNION ALL SELECT 'name', 0, 0, record_type FROM counter_names ${where} AND gone_hour IS NULL
     UNION ALL SELECT 'adjustments', 0, SUM(count), record_type FROM counter_adjustments ${where} GROUP BY record_type
     ${Object.keys(HISTORY).map(counted).join('\n')}
     ${targets.map(targetSql).join('\n')}
     UNION ALL (SELECT 'slot', slot, count, record_type FROM slotted_counters ${where} AND pending = 1 LIMIT ${MAX_ROWS + 1})`,
  )
  const parts = Map.groupBy(rows, ({ part, record_type }) => `${part} ${record_type}`)
  const states = counters.map(({ recordType, recordId }): CounterState => {
    const all = (part: string) => parts.get(`${part} ${recordType}`) ?? []
    const totalOf = (part: string) => {
      const [row] = all(part)
      return row ? { version: toBigInt(row.id), total: toBigInt(row.count) } : { version: null, total: 0n }
    }
    const slots = all('slot')
      .map(({ id, count }) => ({ slot: toBigInt(id), count: toBigInt(count) }))
      .sort((a, b) => (a.slot < b.slot ? -1 : 1))
    const own = totalOf('total')
    const ofTarget = totalOf('target')
    return {
      recordType,
      recordId,
      ...own,
      exists: own.version !== null || slots.length > 0 || all('name').length > 0,
      slots,
      pending: slots.reduce((sum, { count }) => sum + count, 0n),
      adjustments: toBigInt(all('adjustments')[0]?.count ?? 0),
      target: { ...ofTarget, exists: ofTarget.version !== null || all('target slot').length > 0 },
    }
  })
  const slots = states.reduce((sum, { slots }) => sum + slots.length, 0)
  return { states, rows: (parts.get('rows 0') ?? []).reduce((sum, { id }) => sum + Number(toBigInt(id)), slots) }
}

function targetSql(target: CounterPlace): string {
  return `UNION ALL SELECT 'target', version, count, record_type FROM counter_totals WHERE ${counterSql(target)}
     UNION ALL (SELECT 'target slot', 0, 0, record_type FROM ${pendingSlotsSql(target)} LIMIT 1)`
}

/** Reads what a deletion adds to the history of its type: the negative hours, remainders of days, and adjustments. */
async function readDeleted(db: Executor, counter: CounterState): Promise<CalendarAmounts> {
  const { recordType, recordId, adjustments } = counter
  const where = `WHERE ${counterSql(counter)}`
  const { rows } = await db.execute(
    `SELECT 'day' AS part, CAST(period_start AS CHAR) AS at, count FROM counter_periods FORCE INDEX (PRIMARY)
       ${where} AND period = ${PERIODS.day}
     UNION ALL SELECT 'hour', CAST(period_start AS CHAR), count FROM counter_history FORCE INDEX (PRIMARY) ${where}`,
  )
  const hourly: DayAmount[] = []
  // What days have beyond their hours.
  const rest = new Map<string, bigint>()
  for (const { part, at, count } of rows) {
    const amount = part === 'day' ? -toBigInt(count) : toBigInt(count)
    const day = String(at).slice(0, 10)
    rest.set(day, (rest.get(day) ?? 0n) + amount)
    if (part === 'hour') hourly.push({ recordType, recordId, at: toDate(String(at).slice(0, 19))!, amount: -amount })
  }
  const daily = [...rest].map(([day, amount]) => ({ recordType, recordId, at: new Date(day), amount }))
  const some = ({ amount }: DayAmount) => amount !== 0n
  const undated = [{ recordType, recordId, amount: -adjustments }]
  return { hourly: hourly.filter(some), daily: daily.filter(some), undated }
}
