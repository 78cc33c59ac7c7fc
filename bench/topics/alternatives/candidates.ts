import type { Deployment, DeploymentOptions } from '../../harness/deployment.ts'
import { HOT_KEY, keysOf } from '../../harness/wrk-load-keys.ts'
import { GROUP_COMMIT, ONE_ROW } from '../write-strategies.ts'

/** A way to count: the product or an alternative. */
export interface Candidate extends Pick<DeploymentOptions, 'worker' | 'redis' | 'durableObjects'> {
  name: string
  about: string
  path: string
  /** Reads the sum of the counts of a load's keys. */
  count(deployment: Deployment, keys: number): Promise<number>
}

const ofTable = (table: 'slotted_counters' | 'one_row_counters') => (deployment: Deployment) => deployment.sum(table)

export const PRODUCT: Candidate = { ...GROUP_COMMIT, count: ofTable('slotted_counters') }
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

/** A hit, and the headers of the browser that sends it. */
export const BODY = JSON.stringify({ type: 'page_view', key: HOT_KEY })
export const HEADERS = {
  'Content-Type': 'application/json',
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0',
}
