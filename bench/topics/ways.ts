import { keysOf } from '../harness/keys.ts'
import type { ServiceOptions } from '../harness/service.ts'
import { type Service, TOKEN } from '../harness/service.ts'
import { GROUP_COMMIT, ONE_ROW, published, SLOT_PER_WRITER } from './writers.ts'

/** A way to count, the product's or another one. */
export interface Way extends Pick<ServiceOptions, 'worker' | 'redis' | 'durableObjects'> {
  name: string
  about: string
  path: string
  /** How much was counted of so many keys. */
  count(service: Service, keys: number): Promise<number>
  /** What goes on all the time beside the hits. */
  beside?: (service: Service, over: () => boolean) => Promise<void>
  /** Whether every hit has a key of its own under which sending it again counts it once. */
  idempotent?: true
}

const AGGREGATE_MS = 1_000

const ofTable =
  (table: 'slotted_counters' | 'one_row_counters' | 'published_slotted_counters' | 'cumulative_counters') =>
  (service: Service) =>
    service.sum(table)

export const PRODUCT: Way = { ...GROUP_COMMIT, count: ofTable('slotted_counters') }
export const PRODUCT_WITH_KEY: Way = {
  ...PRODUCT,
  name: 'group commit, Idempotency-Key',
  about: '`POST /v1/counters/…` with a key for each hit',
  path: '/v1/counters/page_view/%2Fblog%2Fhello',
  idempotent: true,
}
export const ROW: Way = { ...ONE_ROW, count: ofTable('one_row_counters') }
export const PUBLISHED: Way = { ...published(100), count: ofTable('published_slotted_counters') }
export const WRITER: Way = { ...SLOT_PER_WRITER, count: ofTable('slotted_counters') }

export const OBJECT: Way = {
  name: 'Durable Object',
  about: 'an object for each counter, on SQLite, in the same workerd',
  worker: 'alternatives',
  path: '/object',
  durableObjects: { OBJECTS: 'CounterObject' },
  async count({ url }, keys) {
    const query = keysOf(keys).map((key) => `key=${encodeURIComponent(key)}`)
    const answer = await fetch(`${url}/object?${query.join('&')}`)
    return ((await answer.json()) as { count: number }).count
  },
}

const redis = (fsync: 'always' | 'everysec'): Way => ({
  name: `Redis, ${fsync}`,
  about: `\`INCR\` behind an HTTP process, \`appendfsync ${fsync}\``,
  worker: 'alternatives',
  path: '/redis',
  redis: fsync,
  count: (service) => service.redis!.sum(),
})
export const REDIS_ALWAYS = redis('always')
export const REDIS_EVERYSEC = redis('everysec')

export const MEMORY: Way = {
  name: 'in memory',
  about: 'counted in the isolate, written to one row every 10 s, answered at once',
  worker: 'alternatives',
  path: '/memory',
  async count(service) {
    // What failed stays in memory, for the next time.
    await fetch(`${service.url}/memory/flush`, { method: 'POST' })
    return service.sum('one_row_counters')
  },
}

export const EVENTS: Way = {
  name: 'event log',
  about: `a row for each hit, added up every ${AGGREGATE_MS / 1_000} s`,
  worker: 'alternatives',
  path: '/event',
  async count({ server, database }) {
    const [row] = await server.query(
      `SELECT (SELECT COUNT(*) FROM \`${database}\`.events) +
         (SELECT COALESCE(SUM(count), 0) FROM \`${database}\`.one_row_counters) AS sum`,
    )
    return Number(row!.sum)
  },
  async beside({ url }, over) {
    for (let due = Date.now() + AGGREGATE_MS; !over(); await new Promise((resolve) => setTimeout(resolve, 20))) {
      if (Date.now() < due) continue
      due = Date.now() + AGGREGATE_MS
      // It is there again next time.
      await fetch(`${url}/event/aggregate`, { method: 'POST' }).catch(() => {})
    }
  },
}

export const CUMULATIVE: Way = {
  name: 'G-counter',
  about: 'each writer’s own sum in a row of its own, of which the larger one is kept',
  worker: 'alternatives',
  path: '/cumulative',
  count: ofTable('cumulative_counters'),
}

/** Headers of a hit that is sent in some way. */
export function headersOf({ idempotent }: Way, hit: string): Record<string, string> {
  const json = {
    'Content-Type': 'application/json',
    'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0',
  }
  return idempotent ? { ...json, 'Idempotency-Key': hit, Authorization: `Bearer ${TOKEN}` } : json
}
