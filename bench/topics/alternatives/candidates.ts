import { type Deployment, type DeploymentOptions, TOKEN } from '../../harness/deployment.ts'
import { keysOf } from '../../harness/wrk-load-keys.ts'
import { GROUP_COMMIT, ONE_ROW } from '../write-strategies.ts'

/** A way to count: the product or an alternative. */
export interface Candidate extends Pick<DeploymentOptions, 'worker' | 'redis' | 'durableObjects'> {
  name: string
  about: string
  path: string
  /** Reads the sum of the counts of a load's keys. */
  count(deployment: Deployment, keys: number): Promise<number>
  /** Background work during the hits. */
  background?: (deployment: Deployment, over: () => boolean) => Promise<void>
  /** Whether every hit has an idempotency key, so that a retry counts once. */
  idempotent?: true
}

const AGGREGATE_MS = 1_000

const ofTable = (table: 'slotted_counters' | 'one_row_counters') => (deployment: Deployment) => deployment.sum(table)

export const PRODUCT: Candidate = { ...GROUP_COMMIT, count: ofTable('slotted_counters') }
export const PRODUCT_WITH_KEY: Candidate = {
  ...PRODUCT,
  name: 'group commit, Idempotency-Key',
  about: '`POST /v1/counters/…` with a key for each hit',
  path: '/v1/counters/page_view/%2Fblog%2Fhello',
  idempotent: true,
}
export const ROW: Candidate = { ...ONE_ROW, count: ofTable('one_row_counters') }

export const OBJECT: Candidate = {
  name: 'Durable Object',
  about: 'an object per counter, on SQLite, in the same workerd',
  worker: 'alternatives',
  path: '/object',
  durableObjects: { OBJECTS: 'CounterObject' },
  async count({ url }, keys) {
    const query = keysOf(keys).map((key) => `key=${encodeURIComponent(key)}`)
    const answer = await fetch(`${url}/object?${query.join('&')}`)
    return ((await answer.json()) as { count: number }).count
  },
}

export const REDIS: Candidate = {
  name: 'Redis, always',
  about: '`INCR` behind an HTTP proxy, `appendfsync always`',
  worker: 'alternatives',
  path: '/redis',
  redis: 'always',
  count: (deployment) => deployment.redis!.sum(),
}
export const REDIS_SECOND: Candidate = {
  ...REDIS,
  name: 'Redis, every second',
  about: 'the same, `appendfsync everysec`',
  redis: 'everysec',
}

export const MEMORY: Candidate = {
  name: 'in memory',
  about: 'counted in the isolate, written to one row every 10 s, answered immediately',
  worker: 'alternatives',
  path: '/memory',
  async count(deployment) {
    // If this fails, the counts stay in memory for the next flush.
    await fetch(`${deployment.url}/memory/flush`, { method: 'POST' })
    return deployment.sum('one_row_counters')
  },
}

export const EVENTS: Candidate = {
  name: 'event log',
  about: `a row per hit, aggregated every ${AGGREGATE_MS / 1_000} s`,
  worker: 'alternatives',
  path: '/event',
  async count({ server, database }) {
    const [row] = await server.query(
      `SELECT (SELECT COUNT(*) FROM \`${database}\`.events) +
         (SELECT COALESCE(SUM(count), 0) FROM \`${database}\`.one_row_counters) AS sum`,
    )
    return Number(row!.sum)
  },
  async background({ url }, over) {
    for (let due = Date.now() + AGGREGATE_MS; !over(); await new Promise((resolve) => setTimeout(resolve, 20))) {
      if (Date.now() < due) continue
      due = Date.now() + AGGREGATE_MS
      // If this fails, the events stay for the next aggregation.
      await fetch(`${url}/event/aggregate`, { method: 'POST' }).catch(() => {})
    }
  },
}

/** The headers of a hit. */
export function headersOf({ idempotent }: Candidate, hit: string): Record<string, string> {
  const json = {
    'Content-Type': 'application/json',
    'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0',
  }
  return idempotent ? { ...json, 'Idempotency-Key': hit, Authorization: `Bearer ${TOKEN}` } : json
}
