// What the product is compared with: a Hono app without middlewares, and the product's own driver. Every counting route sends
// one statement per request and answers after its commit.
import { type Context, Hono } from 'hono'
import { applyBatch, makeBatch } from '../../src/counters/batch.ts'
import type { Counter } from '../../src/counters/counter.ts'
import { random64 } from '../../src/counters/random.ts'
import { SlotPool } from '../../src/counters/slots.ts'
import { type Database, type Executor, openDatabase } from '../../src/database/database.ts'
import { classify } from '../../src/database/errors.ts'
import type { Env } from '../../src/env.ts'
import { isolateOf } from '../../src/isolate.ts'

/** Long enough that whoever queues behind a hot row is served in the end: it is throughput that is measured. */
const DEADLINE_MS = 60_000
const MAX_RETRY_MS = 10

type BenchContext = Context<{ Bindings: Env }>

const app = new Hono<{ Bindings: Env }>()

app.post('/nothing', (c) => c.body(null, 204))

app.post('/body', async (c) => {
  await c.req.raw.text()
  return c.body(null, 204)
})

/** One row per counter. */
app.post('/one-row', async (c) => {
  const { recordType, recordId } = await counterOf(c)
  await executor(c).execute(
    `INSERT INTO one_row_counters (record_type, record_id, count) VALUES (${recordType}, ${recordId}, 1)
     ON DUPLICATE KEY UPDATE count = count + 1`,
  )
  return c.body(null, 204)
})

/** The slotted counter pattern as it was published, with so many slots. */
app.post('/published', async (c) => {
  const { recordType, recordId } = await counterOf(c)
  await executor(c).execute(
    `INSERT INTO published_slotted_counters (record_type, record_id, slot, count)
     VALUES (${recordType}, ${BigInt.asUintN(31, recordId)}, FLOOR(RAND() * ${slotsOf(c)}), 1)
     ON DUPLICATE KEY UPDATE count = count + 1`,
  )
  return c.body(null, 204)
})

/** The same in our tables, whose primary key is the address of the slot. */
app.post('/own', async (c) => {
  const counter = await counterOf(c)
  const slot = BigInt(Math.floor(Math.random() * slotsOf(c)))
  await applyBatch(
    executor(c),
    makeBatch(random64(), [{ counter, by: 1n }], () => slot),
  )
  return c.body(null, 204)
})

function slotsOf(c: BenchContext): number {
  return Number(c.req.query('slots') ?? 100)
}

const slots = new SlotPool()

/** Our own statement for each request. */
app.post('/batch', async (c) => {
  await apply(c, await counterOf(c))
  return c.body(null, 204)
})

const hello: Counter = { recordType: 1, recordId: 1n, name: null }

/** The same for a counter that need not be found out: nothing but the statement. */
app.post('/statement', async (c) => {
  await apply(c, hello)
  return c.body(null, 204)
})

async function apply(c: BenchContext, counter: Counter): Promise<void> {
  const slot = slots.lease()
  const batch = makeBatch(random64(), [{ counter, by: 1n }], () => slot)
  const { settled } = await applyBatch(executor(c), batch)
  if (settled) slots.release(slot)
}

async function counterOf(c: BenchContext): Promise<Counter> {
  const { type, key } = await c.req.raw.json<{ type: string; key: string }>()
  const { config, known } = isolateOf(c.env)
  return known.of(config.types.get(type)!, key)
}

let database: Database | null = null

/** Repeats what a deadlock rolled back, and nothing else: these statements do not recognise themselves. */
function executor(c: BenchContext): Executor {
  database ??= openDatabase({ url: isolateOf(c.env).config.databaseUrl, deadlineMs: DEADLINE_MS })
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
