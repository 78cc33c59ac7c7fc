import { hash64 } from '../../src/counters/hash.ts'
import { fillSlots } from '../harness/fill.ts'
import { type HttpVariant, httpVariant } from '../harness/http-variant.ts'
import type { Service } from '../harness/service.ts'
import { GROUP_COMMIT, ONE_ROW } from './writers.ts'

/** The key of every reading but those of many at once. */
const KEY = 'hello'
export const PENDING = [1, 10, 100, 1_000, 10_000]
const MANY = [1, 10, 100, 1_000]
export const BUSY = 64
export const WRITE_COMMIT_MS = 2
/** What is rolled up of every counter that is read. */
const ROLLED = 5

export const number = (value: number) => value.toLocaleString('en-US')
export const exact = (pending: number) => `exact, ${number(pending)} pending`
const publishedSum = (slots: number) => `published SUM, N = ${number(slots)}`
export const batch = (keys: number) => `${number(keys)} ${keys === 1 ? 'key' : 'keys'} at once`
export const AMONG_EMPTY = 'exact, 1,000 pending among 1,000 empty'
export const ROW = 'one row'
export const TOTAL = 'total only'
export const busy = (name: string) => `${name}, ${BUSY} connections`
export const WRITE_ONE_ROW = busy('write: one row')
export const WRITE_GROUP = busy('write: group commit')

/** Something that is read, and what it must say. */
type Reading = Pick<HttpVariant, 'name' | 'about' | 'path' | 'axes'> & {
  prepare(service: Service): Promise<void>
  says: number
}

const ofExact = (pending: number): Reading => ({
  name: exact(pending),
  about: '`GET /v1/counters/…`: total and pending slots from one snapshot',
  path: `/v1/counters/page_view/${KEY}`,
  axes: { slots: pending, read: 'exact, by pending slots' },
  says: ROLLED + pending,
  prepare: (service) => fill(service, 1, pending),
})

const ofOneRow: Reading = {
  name: ROW,
  about: 'the same route reading one row of a plain table',
  path: `/bench/one-row/page_view/${KEY}`,
  says: 7,
  async prepare({ server, database }) {
    await server.query(`INSERT INTO \`${database}\`.one_row_counters VALUES (1, ${await hash64(KEY)}, 7)`)
  },
}

const READINGS: Reading[] = [
  ofOneRow,
  {
    ...ofExact(100),
    name: TOTAL,
    about: '`?consistency=rolled`: the total’s row, 100 slots pending',
    path: `/v1/counters/page_view/${KEY}?consistency=rolled`,
    axes: {},
    says: ROLLED,
  },
  ...PENDING.map(ofExact),
  {
    ...ofExact(1_000),
    name: AMONG_EMPTY,
    about: 'the same beside slots that were rolled up and wait to be pruned',
    axes: {},
    async prepare(service) {
      await fill(service, 1, 2_000)
      await service.server.query(
        `UPDATE \`${service.database}\`.slotted_counters SET count = 0 ORDER BY RAND(1) LIMIT 1000`,
      )
    },
  },
  ...[100, 1_000].map((slots) => ({
    name: publishedSum(slots),
    about: 'the same route summing the slots of the published table',
    path: `/bench/published/page_view/${KEY}`,
    axes: { slots, read: 'published SUM, by N' },
    says: slots,
    async prepare({ server, database }: Service) {
      const id = BigInt.asUintN(31, await hash64(KEY))
      const rows = Array.from({ length: slots }, (_, slot) => `(1, ${id}, ${slot}, 1)`)
      await server.query(
        `INSERT INTO \`${database}\`.published_slotted_counters (record_type, record_id, slot, count) VALUES ${rows.join(',')}`,
      )
    },
  })),
]

const BATCHES: Reading[] = MANY.map((keys) => ({
  name: batch(keys),
  about: '`GET /v1/counters/…?key=…&key=…`, one slot pending each',
  path: `/v1/counters/page_view?${Array.from({ length: keys }, (_, index) => `key=k${index}`).join('&')}`,
  axes: { keys, read: 'exact' },
  says: ROLLED + 1,
  prepare: (service) => fill(service, keys, 1, (index) => `k${index}`),
}))

async function fill(service: Service, counters: number, slotsEach: number, keyOf = (_: number) => KEY): Promise<void> {
  const ids = await Promise.all(Array.from({ length: counters }, (_, index) => hash64(keyOf(index))))
  await fillSlots(service, { counters, slotsEach, idOf: (counter) => ids[counter]! })
  await service.server.query(
    `INSERT INTO \`${service.database}\`.counter_totals (record_type, record_id, count, version, rolled_up_at)
     VALUES ${ids.map((id) => `(1, ${id}, ${ROLLED}, 1, NOW(3))`).join(',')}`,
  )
}

const variantOf = ({ says, ...reading }: Reading, connections: number, table: string) =>
  httpVariant({
    ...reading,
    name: connections === 1 ? reading.name : busy(reading.name),
    table,
    worker: 'product',
    method: 'GET',
    connections,
    keys: 0,
    counts: null,
    async check({ url }) {
      const answer = (await (await fetch(url + reading.path)).json()) as {
        count: number
        counters?: { count: number }[]
      }
      const wrong = (answer.counters ?? [answer]).filter(({ count }) => count !== says)
      return wrong.length === 0 ? [] : [`it read ${JSON.stringify(wrong[0])} instead of ${says}`]
    },
  })

export const quiet = READINGS.map((reading) => variantOf(reading, 1, 'One connection'))
export const batches = BATCHES.map((reading) => variantOf(reading, 1, 'Several keys in one request, one connection'))
export const loaded = [ofOneRow, ...[1, 100, 1_000].map(ofExact)].map((reading) => {
  return variantOf(reading, BUSY, `${BUSY} connections, and what writing takes there`)
})
export const writing = [
  { ...ONE_ROW, name: WRITE_ONE_ROW },
  { ...GROUP_COMMIT, name: WRITE_GROUP },
].map((writer) =>
  httpVariant({
    ...writer,
    table: `${BUSY} connections, and what writing takes there`,
    connections: BUSY,
    behaviour: { commitMs: WRITE_COMMIT_MS },
    rampSeconds: 1,
  }),
)
