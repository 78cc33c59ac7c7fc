// Alternatives to the product on the same runtime. Each route counts one hit and responds.
import { DurableObject } from 'cloudflare:workers'
import { type Context, Hono } from 'hono'
import type { Bindings as ProductBindings } from '../../src/config/read-settings.ts'
import type { CounterAddress } from '../../src/counters/counter-address.ts'
import type { Database } from '../../src/database/database.ts'
import { isolateOf, openConfigured } from '../../src/isolate.ts'

const DEADLINE_MS = 3_000
/** How often the counter in memory is written to the database. */
const FLUSH_MS = 10_000

interface Bindings extends ProductBindings {
  OBJECTS: DurableObjectNamespace<CounterObject>
  /** Address of the HTTP proxy in front of Redis. */
  REDIS_PROXY: string
}

type BenchContext = Context<{ Bindings: Bindings }>

const app = new Hono<{ Bindings: Bindings }>()

/** A Durable Object per counter, on SQLite. The platform holds its responses back until its writes are stored. */
export class CounterObject extends DurableObject {
  constructor(context: DurableObjectState, env: Bindings) {
    super(context, env)
    const { sql } = context.storage
    sql.exec('CREATE TABLE IF NOT EXISTS counter (id INTEGER PRIMARY KEY, count INTEGER NOT NULL)')
    sql.exec('INSERT OR IGNORE INTO counter VALUES (1, 0)')
  }

  add(): void {
    this.ctx.storage.sql.exec('UPDATE counter SET count = count + 1')
  }

  count(): number {
    return Number(this.ctx.storage.sql.exec('SELECT count FROM counter').one().count)
  }
}

function objectOf(c: BenchContext, key: string) {
  return c.env.OBJECTS.get(c.env.OBJECTS.idFromName(key))
}

let objectResponses = 0

/** With `?cut=N`, every N-th response of an object is lost: its connection to the Worker cannot be cut from outside. */
app.post('/object', async (c) => {
  const { key } = await bodyOf(c)
  await objectOf(c, key).add()
  const lost = ++objectResponses % Number(c.req.query('cut') ?? Number.POSITIVE_INFINITY) === 0
  return c.body(null, lost ? 503 : 204)
})

/** The sum of the objects of several keys. */
app.get('/object', async (c) => {
  const counts = await Promise.all(c.req.queries('key')!.map((key) => objectOf(c, key).count()))
  return c.json({ count: counts.reduce((sum, count) => sum + count, 0) })
})

/** Redis over HTTP, as a Worker reaches hosted Redis. */
app.post('/redis', async (c) => {
  const { key } = await bodyOf(c)
  const response = await fetch(`${c.env.REDIS_PROXY}/incr`, { method: 'POST', body: key })
  await response.arrayBuffer()
  return c.body(null, response.ok ? 204 : 502)
})

/** Acknowledged counts that are not in the database yet, by record id. */
let unwritten = new Map<bigint, number>()
let flushedAt = 0

/** In memory, written to one row per counter every 10 s. */
app.post('/memory', async (c) => {
  const { recordId } = await addressOfKey(c)
  unwritten.set(recordId, (unwritten.get(recordId) ?? 0) + 1)
  const now = Date.now()
  flushedAt ||= now
  if (now - flushedAt >= FLUSH_MS) {
    flushedAt = now
    c.executionCtx.waitUntil(flush(c).catch(() => {}))
  }
  return c.body(null, 204)
})

app.post('/memory/flush', async (c) => {
  await flush(c)
  return c.body(null, 204)
})

/** Counts that cannot be written are put back for the next flush, as a careful implementation would. */
async function flush(c: BenchContext): Promise<void> {
  const taken = unwritten
  unwritten = new Map()
  if (taken.size === 0) return
  try {
    const rows = [...taken].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, count]) => `(1,${id},${count})`)
    await databaseOf(c).execute(
      `INSERT INTO one_row_counters (record_type, record_id, count) VALUES ${rows.join(',')}
       ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
    )
  } catch (error) {
    for (const [id, count] of taken) unwritten.set(id, (unwritten.get(id) ?? 0) + count)
    throw error
  }
}

/** A row per hit. `/event/aggregate` adds them up. */
app.post('/event', async (c) => {
  const { recordType, recordId } = await addressOfKey(c)
  await databaseOf(c).execute(`INSERT INTO events (record_type, record_id) VALUES (${recordType}, ${recordId})`)
  return c.body(null, 204)
})

app.post('/event/aggregate', async (c) => {
  await databaseOf(c).transaction(async (transaction) => {
    const { rows } = await transaction.execute('SELECT MAX(id) AS last FROM events')
    const last = rows[0]?.last
    if (last === null || last === undefined) return
    await transaction.execute(
      `INSERT INTO one_row_counters (record_type, record_id, count)
       SELECT record_type, record_id, COUNT(*) FROM events WHERE id <= ${last} GROUP BY record_type, record_id
       ON DUPLICATE KEY UPDATE count = one_row_counters.count + VALUES(count)`,
    )
    await transaction.execute(`DELETE FROM events WHERE id <= ${last}`)
  })
  return c.body(null, 204)
})

async function bodyOf(c: BenchContext): Promise<{ type: string; key: string }> {
  return c.req.raw.json()
}

async function addressOfKey(c: BenchContext): Promise<CounterAddress> {
  const { type, key } = await bodyOf(c)
  const { config, addresses } = isolateOf(c.env)
  return addresses.find(config.types.get(type)!, key)
}

let database: Database | null = null

function databaseOf(c: BenchContext): Database {
  database ??= openConfigured(isolateOf(c.env), DEADLINE_MS)
  return database
}

export default app
