import { expect } from 'vitest'
import type { CounterAddress } from '../../src/counters/keys/counter-address.ts'
import { Overtaken } from '../../src/counters/ledger/totals.ts'
import { random63 } from '../../src/counters/random-id.ts'
import { readCounters } from '../../src/counters/read/read-counters.ts'
import { rollUp } from '../../src/counters/rollup/roll-up.ts'
import { type TransferOutcome, transfer } from '../../src/counters/transfer/transfer.ts'
import type { TransferRequest } from '../../src/counters/transfer/transfer-request.ts'
import { applyBatch, makeBatch } from '../../src/counters/write/apply-batch.ts'
import type { Database } from '../../src/database/database.ts'
import type { TestDatabase } from './database.ts'
import { verifyAll } from './verify-all.ts'

/** Tables that have rows of a counter. */
const TABLES = [
  'slotted_counters',
  'counter_totals',
  'counter_history',
  'counter_periods',
  'counter_adjustments',
  'counter_names',
  'counter_transfers',
] as const

/** What a test asks for: a deletion unless it says otherwise. */
export type AskedTransfer = Partial<TransferRequest>

/** Sends a request as one client does. */
export function sendTransfer(
  db: Database,
  source: CounterAddress,
  asked: AskedTransfer = {},
): Promise<TransferOutcome> {
  const request = { kind: 'delete', target: null, below: null, id: random63(), keyed: false, at: new Date() } as const
  return transfer({ db, totals: null }, source, { ...request, ...asked })
}

/** Sends a request again and again until it is done, as clients are told to. */
export async function finishTransfer(db: Database, source: CounterAddress, asked: AskedTransfer = {}): Promise<void> {
  for (;;) {
    const outcome = await sendTransfer(db, source, asked).catch((error: unknown) => {
      if (error instanceof Overtaken) return 'unfinished' as const
      throw error
    })
    if (outcome !== 'unfinished') return
  }
}

/** Counts, with a slot and batch of its own. */
export async function countOn(db: Database, counter: CounterAddress, by: bigint, batch = random63()): Promise<void> {
  await applyBatch(
    db,
    makeBatch(batch, [{ counter, by }], () => batch),
  )
}

/** Rolls everything up, as of a time. */
export async function rollUpAt(db: Database, at = new Date()): Promise<void> {
  await rollUp({ db, totals: null }, { at, pageSlots: 5_000, maxStatements: 1_000, maxSeconds: 60, lease: false })
}

/** The counts of counters. */
export async function countsOf(db: Database, counters: readonly CounterAddress[]): Promise<bigint[]> {
  return (await readCounters(db, counters)).map(({ total, pending }) => total + pending)
}

/** The tables that have rows of a counter, with their number. A name that is marked as deleted is left out. */
export async function rowsOf(db: TestDatabase, { recordType, recordId }: CounterAddress): Promise<object> {
  const found: Record<string, number> = {}
  for (const table of TABLES) {
    const rows = await db.number(
      `SELECT COUNT(*) FROM ${table} WHERE record_type = ${recordType} AND record_id = ${recordId}
         ${table === 'counter_names' ? 'AND gone_hour IS NULL' : ''}`,
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

/** Sends something for each counter that takes part in an unfinished transfer, as its client would. */
export async function finishAll(db: TestDatabase): Promise<void> {
  for (;;) {
    const { rows } = await db.execute(
      'SELECT record_id, kind, other_id, other_name FROM counter_transfers WHERE role = 1 AND stage <> 3 LIMIT 1',
    )
    const [row] = rows
    if (row === undefined) return
    const source = { recordType: 1, recordId: BigInt(String(row.record_id)), name: 'any' }
    const kind = (['delete', 'rename', 'merge'] as const)[Number(row.kind) - 1]!
    const target = row.other_id === null ? null : { recordType: 1, recordId: BigInt(String(row.other_id)), name: 'any' }
    await finishTransfer(db, source, { kind, target })
  }
}
