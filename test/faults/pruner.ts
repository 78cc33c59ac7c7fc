import { hash64 } from '../../src/counters/hash.ts'
import { prune } from '../../src/counters/prune.ts'
import type { FaultyDatabase } from './database.ts'
import { type Part, recordOf } from './part.ts'

/** Milliseconds after which nothing of an acknowledged request is on its way any more, in the database's queues either. */
const SETTLED_MS = 4_000

/** A request under an idempotency key that nobody is going to send again. */
interface Finished {
  key: string
  parts: readonly Part[]
  at: number
}

/** Lets a day pass for the slots of finished requests, and prunes, again and again. */
export class Pruner {
  deleted = 0
  #finished: Finished[] = []

  finish(key: string, parts: readonly Part[]): void {
    this.#finished.push({ key, parts, at: Date.now() })
  }

  /** Ages some slots and prunes once; either may fail. */
  async run(db: FaultyDatabase): Promise<void> {
    const settled = this.#finished.filter(({ at }) => at < Date.now() - SETTLED_MS).slice(0, 200)
    this.#finished = this.#finished.slice(settled.length)
    try {
      await age(db, settled)
      this.deleted += (await prune(db, { idempotencyHours: 24, pageSlots: 50, maxStatements: 100 })).deleted
    } catch {
      // So do others' statements.
    }
  }
}

async function age(db: FaultyDatabase, finished: readonly Finished[]): Promise<void> {
  const slots: unknown[] = []
  for (const { key, parts } of finished) {
    const slot = await hash64(`idempotency-key ${key}`)
    for (const part of parts) {
      const { recordType, recordId } = await recordOf(part)
      slots.push(recordType, recordId, slot)
    }
  }
  if (slots.length === 0) return
  const rows = Array.from({ length: slots.length / 3 }, () => '(?, ?, ?)').join(', ')
  await db.execute(
    `UPDATE slotted_counters SET written_hour = written_hour - 48 WHERE (record_type, record_id, slot) IN (${rows})`,
    slots,
  )
}
