// Baselines for the product: a Hono app without middleware, on the product's driver. Every counting route sends one statement
// per request and responds after its commit.
import { type Context, Hono } from 'hono'
import type { Bindings } from '../../src/config/read-settings.ts'
import type { CounterAddress } from '../../src/counters/counter-address.ts'
import { random63 } from '../../src/counters/ids.ts'
import { applyBatch, type Batch } from '../../src/counters/ledger/slots.ts'
import { SlotPool } from '../../src/counters/write/flush-group.ts'
import type { Database, Executor } from '../../src/database/database.ts'
import { classify } from '../../src/database/errors.ts'
import { isolateOf, openConfigured } from '../../src/isolate.ts'

/** Long enough for every request that queues for a hot row, because throughput is what is measured. */
const DEADLINE_MS = 60_000
const MAX_RETRY_MS = 10

type BenchContext = Context<{ Bindings: Bindings }>

const app = new Hono<{ Bindings: Bindings }>()

/** One row per counter. */
app.post('/one-row', async (c) => {
  const { recordType, recordId } = await addressOfKey(c)
  await executor(c).execute(
    `INSERT INTO one_row_counters (record_type, record_id, count) VALUES (${recordType}, ${recordId}, 1)
     ON DUPLICATE KEY UPDATE count = count + 1`,
  )
  return c.body(null, 204)
})

/** The slotted counter pattern as published. */
app.post('/published', async (c) => {
  const { recordType, recordId } = await addressOfKey(c)
  await executor(c).execute(
    `INSERT INTO published_slotted_counters (record_type, record_id, slot, count)
     VALUES (${recordType}, ${BigInt.asUintN(31, recordId)}, FLOOR(RAND() * 100), 1)
     ON DUPLICATE KEY UPDATE count = count + 1`,
  )
  return c.body(null, 204)
})

function oneHit({ recordType, recordId }: CounterAddress, slot: bigint): Batch {
  return [{ recordType, recordId, slot, count: 1n, batch: random63() }]
}

const slots = new SlotPool()

/** The product's statement, once per request. */
app.post('/batch', async (c) => {
  await apply(c, await addressOfKey(c))
  return c.body(null, 204)
})

const hello: CounterAddress = { recordType: 1, recordId: 1n, name: 'hello' }

/** The same for a fixed counter, without reading the body. */
app.post('/statement', async (c) => {
  await apply(c, hello)
  return c.body(null, 204)
})

async function apply(c: BenchContext, counter: CounterAddress): Promise<void> {
  const slot = slots.lease()
  const batch = oneHit(counter, slot)
  const { settled } = await applyBatch(executor(c), batch, 24)
  if (settled) slots.release(slot)
}

async function addressOfKey(c: BenchContext): Promise<CounterAddress> {
  const { type, key } = await c.req.raw.json<{ type: string; key: string }>()
  const { config, addresses } = isolateOf(c.env)
  return addresses.find(config.types.get(type)!, key)
}

let database: Database | null = null

/** Retries only what a deadlock rolled back, because these statements are not idempotent. */
function executor(c: BenchContext): Executor {
  database ??= openConfigured(isolateOf(c.env), DEADLINE_MS)
  const { execute } = database
  return {
    async execute(sql, args) {
      for (;;) {
        try {
          return await execute(sql, args)
        } catch (error) {
          const { kind, applied } = classify(error)
          if (kind !== 'contention' || applied !== 'no') throw error
          await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_RETRY_MS))
        }
      }
    },
  }
}

export default app
