// Alternatives to the product on the same runtime. Each route counts one hit and responds.
import { DurableObject } from 'cloudflare:workers'
import { type Context, Hono } from 'hono'
import type { Bindings as ProductBindings } from '../../src/config/read-settings.ts'

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

app.post('/object', async (c) => {
  const { key } = await bodyOf(c)
  await objectOf(c, key).add()
  return c.body(null, 204)
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

async function bodyOf(c: BenchContext): Promise<{ type: string; key: string }> {
  return c.req.raw.json()
}

export default app
