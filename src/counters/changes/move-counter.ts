import { bucketOf } from '../../database/buckets.ts'
import type { Database, Executor } from '../../database/database.ts'
import { toBigInt, toDate } from '../../database/values.ts'
import { PERIODS } from '../calendar.ts'
import { byPrimaryKey, type CounterAddress } from '../counter-address.ts'
import { counterSql, counterValues, HOUR_SQL, sameKeySql } from '../counters-sql.ts'
import { random63 } from '../ids.ts'
import { HistoryAddition } from '../ledger/history-addition.ts'
import { addToSlots, type PendingSlot, pendingOf, pendingSlotsOfKeySql, subtractionsOf } from '../ledger/slots.ts'
import { addToTotals, checkTotals, type LockedCounter } from '../ledger/totals.ts'
import { laneOf, rangeOf } from '../ranges.ts'
import { ChangeRefused, checkPending, keyOfCounter, type Locked, MAX_TAKEN_SLOTS, makeChange } from './change.ts'

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

/** The most statements of one attempt: read, totals, slots, 6 for the history or, of a deletion, 4 and 2 for each type. */
const attemptStatements = (types: number) => 7 + 2 * types

/**
 * Deletes a counter, or moves all that it has to another one, in one transaction; also the counters of its key in further types, which have
 * the same record id, and so the same range. What is counted after the read begins a new counter under the old key. Pending counts stay
 * pending at the target. @throws {ChangeRefused | KeyReused | Overtaken | DatabaseFailure} as `makeChange`, or a total leaves 64 bits
 */
export async function moveCounter(db: Database, source: CounterAddress, request: MoveRequest) {
  const { kind, target, also, below } = request
  const { ranges } = db
  if (target !== null && rangeOf(source.recordId, ranges) !== rangeOf(target.recordId, ranges)) {
    throw new ChangeRefused('different_ranges')
  }
  const asked = [kind, target?.recordId ?? '', below ?? '', ...also].join(' ')
  const key = await keyOfCounter(request.key, 'move', source, asked)
  const sources = [source.recordType, ...also].map((recordType) => ({ ...source, recordType })).sort(byPrimaryKey)
  const targets = target === null ? [] : sources.map(({ recordType }) => ({ ...target, recordType }))
  return makeChange(db, {
    key,
    counters: [...sources, ...targets],
    statements: attemptStatements(sources.length),
    async attempt(transaction, locked) {
      const read = await readStates(transaction, locked, sources, targets)
      const own = read.states.find(({ recordType }) => recordType === source.recordType)!
      if (!own.exists) throw new ChangeRefused('no_such_counter')
      if (kind === 'rename' && own.target!.exists) throw new ChangeRefused('counter_exists')
      if (kind === 'merge' && !own.target!.exists) throw new ChangeRefused('no_such_target')
      if (below !== null && own.total + own.pending >= below) throw new ChangeRefused('count_not_below')
      await checkPending(transaction, sources, read.slots)
      if (read.rows.reduce((sum, rows) => sum + rows, 0) > MAX_ROWS) throw new ChangeRefused('history_too_large')
      const counters = read.states.filter(({ exists }) => exists)
      await moveCounts(transaction, counters)
      await takeHistory(transaction, counters, target?.recordId ?? null, { rows: read.rows, ranges })
    },
  })
}

/** Empties the totals and slots of counters, into those of their targets if they have any. */
async function moveCounts(transaction: Executor, counters: readonly CounterState[]): Promise<void> {
  for (const { total, pending, target } of counters) {
    checkTotals([total, pending, (target?.total ?? 0n) + total + pending])
  }
  const changes = counters.flatMap((counter) => {
    const { total, rolledUpAt, target } = counter
    const emptied = { ...counter, amount: -total, gone: true, rolledUpAt: null }
    return target === null ? [emptied] : [emptied, { ...target, amount: total, rolledUpAt }]
  })
  await addToTotals(transaction, changes.sort(byPrimaryKey))
  const added = counters.flatMap(({ pending, target }) =>
    target === null || pending === 0n
      ? []
      : [`(${counterValues(target)},${random63()},${pending},${random63()},${HOUR_SQL})`],
  )
  // Empty slots stay until they are pruned: they recognize repeated batches.
  await addToSlots(transaction, [...subtractionsOf(counters), ...added])
}

const HISTORY = {
  counter_history: 'period_start, count',
  counter_periods: 'period, period_start, count',
  counter_adjustments: 'adjustment_id, kind, adjusted_at, count',
} as const

/** Moves the history, or deletes it and takes it out of that of the types. `rows`: of each table of `HISTORY` */
async function takeHistory(
  transaction: Executor,
  counters: readonly CounterState[],
  targetId: bigint | null,
  { rows, ranges }: { rows: readonly number[]; ranges: number },
): Promise<void> {
  if (targetId === null && rows.some((number) => number > 0)) {
    const history = new HistoryAddition(laneOf({ ranges }, counters[0]!))
    for (const counter of counters) await takeFromType(transaction, counter, history)
    await history.send(transaction)
  }
  for (const [index, [table, columns]] of Object.entries(HISTORY).entries()) {
    if (rows[index] === 0) continue
    if (targetId !== null) {
      await transaction.execute(
        `INSERT INTO ${table} (record_type, record_id, bucket, ${columns})
         SELECT record_type, ${targetId}, ${bucketOf(targetId)}, ${columns} FROM ${table} AS old WHERE ${sameKeySql(counters)}
         ON DUPLICATE KEY UPDATE count = ${table}.count + VALUES(count)`,
      )
    }
    await transaction.execute(`DELETE FROM ${table} WHERE ${sameKeySql(counters)}`)
  }
}

/** The most rows of the history that a change deletes or moves. */
export const MAX_ROWS = 50_000

interface Row extends CounterAddress, Omit<LockedCounter, 'gone'> {
  exists: boolean
}

interface CounterState extends Row {
  /** In primary key order. */
  slots: PendingSlot[]
  pending: bigint
  adjustments: bigint
  /** The counter of the other key in the same type. */
  target: Row | null
}

/** Reads locked counters of one key, in their order, with the number of their slots and of rows in each table of `HISTORY`. */
async function readStates(
  db: Executor,
  locked: Locked,
  sources: readonly CounterAddress[],
  targets: readonly CounterAddress[],
): Promise<{ states: CounterState[]; slots: number; rows: number[] }> {
  const where = `WHERE ${sameKeySql(sources)}`
  const counted = (table: string) =>
    `UNION ALL SELECT '${table}', COUNT(*), 0, 0 FROM (SELECT 1 FROM ${table} FORCE INDEX (PRIMARY) ${where} LIMIT ${MAX_ROWS + 1}) AS r`
  const { rows } = await db.execute(
    `SELECT 'adjustments' AS part, 0 AS slot, SUM(count) AS count, record_type FROM counter_adjustments ${where} GROUP BY record_type
     ${Object.keys(HISTORY).map(counted).join('\n')}
     ${targets.map((target) => `UNION ALL (SELECT 'target', 0, 0, record_type ${pendingSlotsOfKeySql([target], 1)})`).join('\n')}
     UNION ALL (SELECT 'slot', slot, count, record_type ${pendingSlotsOfKeySql(sources, MAX_TAKEN_SLOTS + 1)})`,
  )
  const parts = Map.groupBy(rows, ({ part, record_type }) => `${part} ${record_type}`)
  // A counter exists if it is not marked, or counts.
  const rowOf = (counter: CounterAddress, isPending: boolean): Row => {
    const { gone, ...row } = locked(counter)
    return { ...counter, ...row, exists: !gone || row.total !== 0n || isPending }
  }
  const states = sources.map((source, index): CounterState => {
    const { recordType } = source
    const { slots, pending } = pendingOf(parts.get(`slot ${recordType}`) ?? [])
    const target = targets[index]
    return {
      ...rowOf(source, slots.length > 0),
      slots: slots.sort((a, b) => (a.slot < b.slot ? -1 : 1)),
      pending,
      adjustments: toBigInt(parts.get(`adjustments ${recordType}`)?.[0]?.count ?? 0),
      target: target === undefined ? null : rowOf(target, parts.has(`target ${recordType}`)),
    }
  })
  return {
    states,
    slots: states.reduce((sum, { slots }) => sum + slots.length, 0),
    rows: Object.keys(HISTORY).map((table) => Number(toBigInt(parts.get(`${table} 0`)?.[0]?.slot ?? 0))),
  }
}

/** Takes a counter out of the history of its type: its hours, the remainders of its days, and its adjustments. */
async function takeFromType(db: Executor, counter: CounterState, history: HistoryAddition): Promise<void> {
  const where = `WHERE ${counterSql(counter)}`
  const read = (rows: string) => db.execute(`SELECT CAST(period_start AS CHAR) AS at, count FROM ${rows}`)
  // Locked, because expiry deletes hours beside this, and then those of the type. Not shared: the deletion would meet a deadlock.
  const hours = await read(`counter_history FORCE INDEX (PRIMARY) ${where} FOR UPDATE`)
  const days = await read(`counter_periods FORCE INDEX (PRIMARY) ${where} AND period = ${PERIODS.day}`)
  const take = (count: bigint, at: Date, known: 'hour' | 'day') =>
    history.add([{ ...counter, amount: -count }], at, known, 'types')
  // What is left of days beside their hours.
  const rest = new Map(days.rows.map(({ at, count }) => [String(at).slice(0, 10), toBigInt(count)]))
  for (const row of hours.rows) {
    const [at, count] = [String(row.at).slice(0, 19), toBigInt(row.count)]
    rest.set(at.slice(0, 10), (rest.get(at.slice(0, 10)) ?? 0n) - count)
    take(count, toDate(at)!, 'hour')
  }
  for (const [day, count] of rest) take(count, new Date(day), 'day')
  history.adjust([{ ...counter, amount: -counter.adjustments }])
}
