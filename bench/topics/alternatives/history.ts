import { counterValues } from '../../../src/counters/counters-sql.ts'
import { type Deployment, withDeployment } from '../../harness/deployment.ts'
import type { Figures } from '../../harness/figure-names.ts'
import type { Variant } from '../../harness/variant.ts'
import { type Candidate, PRODUCT, REDIS, ROW } from './candidates.ts'

const KEYS = 1_000
/** Hits of each key in a day. They matter only where each leaves something. */
const HITS_EACH = 100
/** A day of history, in words. */
export const DAY = `${KEYS.toLocaleString('en-US')} keys with ${HITS_EACH} hits each, spread over 24 hours`
export const HITS_OF_DAY = KEYS * HITS_EACH

const DAYS = 30
const DAYS_WITH_HOURS = 3
const HOURS = 24
/** Redis gets its keys one by one. */
const DAYS_OF_REDIS = 10
const PARALLEL = 50

export const historyName = ({ name }: Pick<Candidate, 'name'>) => `${name}, a day of history`

const ids = Array.from({ length: KEYS }, (_, i) => BigInt.asUintN(64, BigInt(i + 1) * 11_400_714_819_323_198_485n))
const dateOf = (day: number) => `2026-01-${String(day + 1).padStart(2, '0')}`

/** Inserts rows in the order of time, and returns the KiB that each of some days takes in the table and its indexes. */
async function kibOf(
  { server, database }: Deployment,
  table: string,
  days: number,
  rowsOf: (day: number) => string[][],
): Promise<number> {
  const name = `\`${database}\`.${table}`
  const size = async () => {
    // Otherwise MySQL answers what it knew a day ago.
    await server.query(`ANALYZE TABLE ${name}`)
    const [row] = await server.query(
      `SELECT DATA_LENGTH + INDEX_LENGTH AS bytes FROM information_schema.tables
       WHERE TABLE_SCHEMA = '${database}' AND TABLE_NAME = '${table}'`,
    )
    return Number(row!.bytes)
  }
  const before = await size()
  for (let day = 0; day < days; day++) {
    for (const rows of rowsOf(day)) await server.query(`INSERT INTO ${name} VALUES ${rows.join(',')}`)
  }
  return ((await size()) - before) / days / 1024
}

/** The history of the product: hours, which are kept for 90 days, and days, which stay. */
async function ofProduct(deployment: Deployment): Promise<Figures> {
  const values = (id: bigint) => counterValues({ recordType: 1, recordId: id })
  const hours = await kibOf(deployment, 'counter_history', DAYS_WITH_HOURS, (day) =>
    Array.from({ length: HOURS }, (_, hour) => ids.map((id) => `(${values(id)},'${dateOf(day)} ${hour}:00',4)`)),
  )
  const days = await kibOf(deployment, 'counter_periods', DAYS, (day) => [
    ids.map((id) => `(${values(id)},1,'${dateOf(day)}',${HITS_EACH})`),
  ])
  return { dayKiB: hours + days, laterKiB: days }
}

/** What one row for each key becomes with history: one for each key and day. */
async function ofRows(deployment: Deployment): Promise<Figures> {
  const { server, database } = deployment
  await server.query(
    `CREATE TABLE \`${database}\`.daily_counters (
       record_type INT NOT NULL, record_id BIGINT UNSIGNED NOT NULL, day DATE NOT NULL, count BIGINT NOT NULL,
       PRIMARY KEY (record_type, record_id, day)
     )`,
  )
  const dayKiB = await kibOf(deployment, 'daily_counters', DAYS, (day) => [
    ids.map((id) => `(1,${id},'${dateOf(day)}',${HITS_EACH})`),
  ])
  return { dayKiB }
}

/** The same in Redis: a key for each key and day. */
async function ofRedis({ redis }: Deployment): Promise<Figures> {
  const before = await redis!.usage()
  const names = ids.flatMap((_, i) => Array.from({ length: DAYS_OF_REDIS }, (_, day) => `/page/${i}:${dateOf(day)}`))
  const clients = Array.from({ length: PARALLEL }, async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      await fetch(`${redis!.url}/incr`, { method: 'POST', body: name })
    }
  })
  await Promise.all(clients)
  const after = await redis!.usage()
  return {
    dayKiB: (after.diskBytes - before.diskBytes) / DAYS_OF_REDIS / 1024,
    dayMemoryKiB: (after.memoryBytes - before.memoryBytes) / DAYS_OF_REDIS / 1024,
  }
}

/** What a day of history takes. */
export const histories: Variant[] = (
  [
    [PRODUCT, ofProduct],
    [ROW, ofRows],
    [REDIS, ofRedis],
  ] as const
).map(([candidate, measure]) => ({
  name: historyName(candidate),
  about: DAY,
  needs: candidate.redis === undefined ? [] : ['redis'],
  measure: (testbed) =>
    withDeployment(
      testbed,
      { worker: candidate.worker, ...(candidate.redis && { redis: candidate.redis }) },
      async (deployment) => ({ figures: await measure(deployment), violations: [] }),
    ),
}))
