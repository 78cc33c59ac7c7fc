import { expect } from 'vitest'
import { keyOfCounter } from '../../src/counters/changes/change.ts'
import { type ImportRow, importCounts } from '../../src/counters/changes/import-counts.ts'
import { type MoveRequest, moveCounter } from '../../src/counters/changes/move-counter.ts'
import { setCounts } from '../../src/counters/changes/set-counts.ts'
import type { CounterAddress } from '../../src/counters/counter-address.ts'
import { counterValues } from '../../src/counters/counters-sql.ts'
import { random63 } from '../../src/counters/ids.ts'
import { applyBatch } from '../../src/counters/ledger/slots.ts'
import { rangeOf } from '../../src/counters/ranges.ts'
import { countIn, readCounters } from '../../src/counters/read/read-counters.ts'
import { type RollUpOptions, type RollUpSummary, rollUp } from '../../src/counters/rollup/roll-up.ts'
import type { Increment } from '../../src/counters/write/increment-group.ts'
import type { Database } from '../../src/database/database.ts'
import type { TestDatabase } from './database.ts'
import { makeBatch } from './make-batch.ts'
import { onVitess } from './on-vitess.ts'
import { verifyAll } from './verify-all.ts'

/** Tables that have rows of a counter. */
const TABLES = ['slotted_counters', 'counters', 'counter_history', 'counter_periods', 'counter_adjustments'] as const

/** Conditions on rows that do not wait for pruning. */
const PRESENT: Partial<Record<(typeof TABLES)[number], string>> = {
  slotted_counters: 'AND pending = 1',
  counters: 'AND gone_hour IS NULL',
}

/** Deletes a counter, unless the request says otherwise. */
export function move(
  db: Database,
  source: CounterAddress,
  request: Partial<MoveRequest> = {},
): Promise<'done' | 'repeated'> {
  const whole = { kind: 'delete', target: null, also: [], below: null, key: null, ...request } as const
  return moveCounter(db, source, whole)
}

/** Sets a counter. @param setting `id`: the hash of an idempotency key */
export async function setCounter(
  db: Database,
  counter: CounterAddress,
  { count, id, at }: { count: bigint; id: bigint | null; at: Date },
): Promise<'set' | 'repeated'> {
  const key = await keyOfCounter(id, 'set', counter, `set ${count}`)
  const made = await setCounts(db, [{ counter, count, as: 'set' }], { key, at })
  if (made === 'repeated') return made
  if ('refused' in made[0]!) throw new Error(made[0].refused)
  return 'set'
}

/** Counts as one batch. Default for its id and slot: random numbers. */
export async function countAll(
  db: Pick<Database, 'execute'>,
  increments: readonly Increment[],
  batch = random63(),
  slot = batch,
): Promise<void> {
  for (const { counter } of increments) await nameCounter(db, counter)
  await applyBatch(db, makeBatch(batch, increments, slot), 24)
}

/** Names a counter, as everything that counts does first. */
export async function nameCounter(db: Pick<Database, 'execute'>, counter: CounterAddress): Promise<void> {
  await db.execute(
    `INSERT IGNORE INTO counters (record_type, record_id, bucket, name) VALUES (${counterValues(counter)}, ?)`,
    [counter.name],
  )
}

/** Names all counters that have slots. */
export async function nameAll(db: TestDatabase): Promise<void> {
  if (!onVitess) {
    await db.execute(
      `INSERT IGNORE INTO counters (record_type, record_id, bucket, name)
       SELECT DISTINCT record_type, record_id, bucket, CONCAT('/', record_id) FROM slotted_counters`,
    )
    return
  }
  const { rows } = await db.execute('SELECT DISTINCT record_type, record_id FROM slotted_counters')
  for (let first = 0; first < rows.length; first += 10_000) {
    const some = rows.slice(first, first + 10_000)
    await db.insert(
      'names',
      some.map(({ record_type, record_id }) => `(${record_type}, ${record_id}, '/${record_id}')`),
    )
  }
}

/** The same for one counter. */
export const countOn = (
  db: Pick<Database, 'execute'>,
  counter: CounterAddress,
  by: bigint,
  batch?: bigint,
  slot?: bigint,
): Promise<void> => countAll(db, [{ counter, by }], batch, slot)

/** Rolls everything up, as of a time, beside other roll-ups, unless the options say otherwise. */
export function rollUpAt(db: Database, at = new Date(), options: Partial<RollUpOptions> = {}): Promise<RollUpSummary> {
  const whole = { at, pageSlots: 5_000, maxStatements: 1_000, maxSeconds: 60, lease: false, ...options }
  return rollUp(db, whole)
}

/** Imports rows of any ranges, each range by itself. */
export async function importAll(db: Database, rows: readonly ImportRow[], at: Date): Promise<void> {
  for (const part of Map.groupBy(rows, ({ counter }) => rangeOf(counter.recordId, db.ranges)).values()) {
    await importCounts(db, part, { id: random63(), at })
  }
}

/** The counts of counters. */
export async function countsOf(db: Database, counters: readonly CounterAddress[]): Promise<bigint[]> {
  return (await readCounters(db, counters)).map(countIn)
}

/** The count of one counter. */
export async function countOf(db: Database, counter: CounterAddress): Promise<bigint> {
  return (await countsOf(db, [counter]))[0]!
}

/** The tables that have rows of a counter, with their number. Marked names and empty slots, which wait for pruning, are left out. */
export async function rowsOf(db: TestDatabase, { recordType, recordId }: CounterAddress): Promise<object> {
  const found: Record<string, number> = {}
  for (const table of TABLES) {
    const rows = await db.number(
      `SELECT COUNT(*) FROM ${table} WHERE record_type = ${recordType} AND record_id = ${recordId}
         ${PRESENT[table] ?? ''}`,
    )
    if (rows > 0n) found[table] = Number(rows)
  }
  return found
}

/** Checks all tables against each other with the product's own check. */
export async function expectExact(db: TestDatabase): Promise<void> {
  const { wrong } = await verifyAll(db)
  expect(wrong).toEqual([])
}
