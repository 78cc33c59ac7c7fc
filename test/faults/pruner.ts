import { hash63 } from '../../src/counters/ids.ts'
import { prune } from '../../src/counters/old-rows.ts'
import { bucketsSql } from '../../src/database/buckets.ts'
import type { FaultyDatabase } from './faulty-database.ts'
import { type Increment, recordOf } from './increment.ts'

/** Milliseconds after which no statement of an acknowledged request is in flight or waits in the database. */
const SETTLED_MS = 4_000

/** A request with an idempotency key that no client will send again. */
interface Finished {
  key: string
  increments: readonly Increment[]
  at: number
}

/** Ends the time for which slots of finished requests are kept, and prunes. */
export class Pruner {
  deleted = 0
  /** The slots that it found pending, although they are kept no longer, each time. */
  pending = 0
  #finished: Finished[] = []

  finish(key: string, increments: readonly Increment[]): void {
    this.#finished.push({ key, increments, at: Date.now() })
  }

  /** Ends the time of some slots, and prunes once. Either may fail. */
  async run(db: FaultyDatabase): Promise<void> {
    const settled = this.#finished.filter(({ at }) => at < Date.now() - SETTLED_MS).slice(0, 200)
    this.#finished = this.#finished.slice(settled.length)
    try {
      await age(db, settled)
      const { rows } = await db.execute(
        'SELECT COUNT(*) AS found FROM slotted_counters WHERE kept_until = 1 AND pending = 1',
      )
      this.pending += Number(rows[0]!.found)
      this.deleted += (await prune(db, { pageSlots: 50, maxStatements: 100 })).deleted
    } catch {
      // Faults strike here as well.
    }
  }
}

async function age(db: FaultyDatabase, finished: readonly Finished[]): Promise<void> {
  const slots: { recordId: bigint; row: string }[] = []
  for (const { key, increments } of finished) {
    const slot = await hash63(`idempotency-key ${key}`)
    for (const increment of increments) {
      const { recordType, recordId } = await recordOf(increment)
      slots.push({ recordId, row: `(${recordType},${recordId},${slot})` })
    }
  }
  if (slots.length === 0) return
  await db.execute(
    `UPDATE slotted_counters SET kept_until = 1
     WHERE (record_type, record_id, slot) IN (${slots.map(({ row }) => row).join()})
     AND ${bucketsSql(slots.map(({ recordId }) => recordId))}`,
  )
}
