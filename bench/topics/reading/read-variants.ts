import { hash64 } from '../../../src/counters/ids.ts'
import { coverReads } from '../../harness/create-tables.ts'
import type { Deployment } from '../../harness/deployment.ts'
import { fillSlots } from '../../harness/fill-slots.ts'
import { type HttpVariant, httpVariant } from '../../harness/http-variant.ts'

/** The key of all reads except those of several keys. */
const KEY = 'hello'
/** More than 2,000 are not added up for requests without a token. */
export const PENDING = [1, 10, 100, 1_000, 2_000]
const MANY = [1, 10, 100, 1_000]
export const BUSY = 64
/** The rolled-up total of every counter that is read. */
const TOTAL_COUNT = 5

export const number = (value: number) => value.toLocaleString('en-US')
export const exact = (pending: number) => `exact, ${number(pending)} pending`
const publishedSum = (slots: number) => `published SUM, N = ${number(slots)}`
export const batch = (keys: number) => `${number(keys)} ${keys === 1 ? 'key' : 'keys'} at once`
export const AMONG_EMPTY = 'exact, 1,000 pending among 1,000 empty'
export const covering = (name: string) => `${name}, covering index`
export const ROW = 'one row'
export const TOTAL = 'total only'
export const busy = (name: string) => `${name}, ${BUSY} connections`

/** A route to read, and the count that it must return. */
type Read = Pick<HttpVariant, 'name' | 'title' | 'about' | 'path' | 'axes'> & {
  prepare(deployment: Deployment): Promise<void>
  expected: number
}

const ofExact = (pending: number): Read => ({
  name: exact(pending),
  about: '`GET /v1/counters/…`: total and pending slots from one snapshot',
  path: `/v1/counters/page_view/${KEY}`,
  axes: { slots: pending, read: 'exact, by pending slots' },
  expected: TOTAL_COUNT + pending,
  prepare: (deployment) => fillCounters(deployment, 1, pending),
})

const ofOneRow: Read = {
  name: ROW,
  about: 'the same route, reading one row of a plain table',
  path: `/bench/one-row/page_view/${KEY}`,
  expected: 7,
  async prepare({ server, database }) {
    await server.query(`INSERT INTO \`${database}\`.one_row_counters VALUES (1, ${await hash64(KEY)}, 7)`)
  },
}

const amongEmpty: Read = {
  ...ofExact(1_000),
  name: AMONG_EMPTY,
  about: 'the same, among slots that were rolled up and wait to be pruned',
  axes: {},
  async prepare(deployment) {
    await fillCounters(deployment, 1, 2_000)
    await deployment.server.query(
      `UPDATE \`${deployment.database}\`.slotted_counters SET count = 0 ORDER BY RAND(1) LIMIT 1000`,
    )
  },
}

const withCovering = (read: Read): Read => ({
  ...read,
  name: covering(read.name),
  about: 'the same with `count` in the index of pending slots',
  axes: {},
  async prepare(deployment) {
    await coverReads(deployment)
    await read.prepare(deployment)
  },
})

const READS: Read[] = [
  ofOneRow,
  {
    ...ofExact(100),
    name: TOTAL,
    about: '`?consistency=rolled`: the total only, with 100 pending slots',
    path: `/v1/counters/page_view/${KEY}?consistency=rolled`,
    axes: {},
    expected: TOTAL_COUNT,
  },
  ...PENDING.map(ofExact),
  amongEmpty,
  ...[ofExact(1_000), amongEmpty].map(withCovering),
  ...[100, 1_000].map((slots) => ({
    name: publishedSum(slots),
    about: 'the same route, summing the slots of the published table',
    path: `/bench/published/page_view/${KEY}`,
    axes: { slots, read: 'published SUM, by N' },
    expected: slots,
    async prepare({ server, database }: Deployment) {
      const id = BigInt.asUintN(31, await hash64(KEY))
      const rows = Array.from({ length: slots }, (_, slot) => `(1, ${id}, ${slot}, 1)`)
      await server.query(
        `INSERT INTO \`${database}\`.published_slotted_counters (record_type, record_id, slot, count) VALUES ${rows.join(',')}`,
      )
    },
  })),
]

const BATCHES: Read[] = MANY.map((keys) => ({
  name: batch(keys),
  title: `${number(keys)} ${keys === 1 ? 'key' : 'keys'} per request`,
  about: '`GET /v1/counters/…?key=…&key=…`, one pending slot per counter',
  path: `/v1/counters/page_view?${Array.from({ length: keys }, (_, index) => `key=k${index}`).join('&')}`,
  axes: { keys, read: 'exact' },
  expected: TOTAL_COUNT + 1,
  prepare: (deployment) => fillCounters(deployment, keys, 1, (index) => `k${index}`),
}))

async function fillCounters(
  deployment: Deployment,
  counters: number,
  slotsEach: number,
  keyOf = (_: number) => KEY,
): Promise<void> {
  const ids = await Promise.all(Array.from({ length: counters }, (_, index) => hash64(keyOf(index))))
  await fillSlots(deployment, { counters, slotsEach, idOf: (counter) => ids[counter]! })
  await deployment.server.query(
    `UPDATE \`${deployment.database}\`.counters SET count = ${TOTAL_COUNT}, rolled_up_at = NOW(3)`,
  )
}

const variantOf = ({ expected, ...read }: Read, connections: number) =>
  httpVariant({
    ...read,
    name: connections === 1 ? read.name : busy(read.name),
    worker: 'product',
    method: 'GET',
    connections,
    keys: 0,
    counts: null,
    async check({ url }) {
      const answer = (await (await fetch(url + read.path)).json()) as {
        count: number
        counters?: { count: number }[]
      }
      const wrong = (answer.counters ?? [answer]).filter(({ count }) => count !== expected)
      return wrong.length === 0 ? [] : [`the read returned ${JSON.stringify(wrong[0])} instead of ${expected}`]
    },
  })

export const sequentialReads = READS.map((read) => variantOf(read, 1))
export const batchReads = BATCHES.map((read) => variantOf(read, 1))
export const concurrentReads = [ofOneRow, ...[1, 100, 1_000].map(ofExact)].map((read) => variantOf(read, BUSY))
