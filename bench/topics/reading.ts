import { hash64 } from '../../src/counters/hash.ts'
import { fillSlots } from '../harness/fill.ts'
import { type HttpVariant, httpVariant } from '../harness/http-variant.ts'
import type { Service } from '../harness/service.ts'
import { lineChart } from '../report/chart.ts'
import { about, medianOf, pointsOf } from '../report/points.ts'
import type { Run, Topic } from '../topic.ts'
import { readPathTable } from './read-path.ts'
import { GROUP_COMMIT, ONE_ROW } from './writers.ts'

/** The key of every reading but those of many at once. */
const KEY = 'hello'
const PENDING = [1, 10, 100, 1_000, 10_000]
const MANY = [1, 10, 100, 1_000]
const BUSY = 64
const WRITE_COMMIT_MS = 2

const number = (value: number) => value.toLocaleString('en-US')
const exact = (pending: number) => `exact, ${number(pending)} pending`
const publishedSum = (slots: number) => `published SUM, N = ${number(slots)}`
const batch = (keys: number) => `${number(keys)} ${keys === 1 ? 'key' : 'keys'} at once`
const ROW = 'one row'
const TOTAL = 'total only'
const busy = (name: string) => `${name}, ${BUSY} connections`
const WRITE_ONE_ROW = busy('write: one row')
const WRITE_GROUP = busy('write: group commit')

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
  says: pending,
  prepare: (service) => fillExact(service, 1, pending),
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
    says: 0,
  },
  ...PENDING.map(ofExact),
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
  says: 1,
  prepare: (service) => fillExact(service, keys, 1, (index) => `k${index}`),
}))

async function fillExact(
  service: Service,
  counters: number,
  slotsEach: number,
  keyOf = (_: number) => KEY,
): Promise<void> {
  const ids = await Promise.all(Array.from({ length: counters }, (_, index) => hash64(keyOf(index))))
  await fillSlots(service, { counters, slotsEach, idOf: (counter) => ids[counter]! })
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

const quiet = READINGS.map((reading) => variantOf(reading, 1, 'One connection'))
const batches = BATCHES.map((reading) => variantOf(reading, 1, 'Several keys in one request, one connection'))
const loaded = [ofOneRow, ...[1, 100, 1_000].map(ofExact)].map((reading) => {
  return variantOf(reading, BUSY, `${BUSY} connections, and what writing takes there`)
})
const writing = [
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

/** How many readings per write slots stand before one row would have been cheaper. */
function breakEven(runs: readonly Run[], pending: number): number {
  const seconds = (variant: string) => 1 / medianOf(runs, variant, 'perSecond')
  const saved = seconds(WRITE_ONE_ROW) - seconds(WRITE_GROUP)
  const paid = seconds(busy(exact(pending))) - seconds(busy(ROW))
  return saved / paid
}

/** What an exact count costs to read. */
export const reading: Topic = {
  name: 'reading',
  title: 'What does an exact count cost to read?',
  text:
    'One key read again and again through the product’s Worker, on the first server, no latency added. What is pending varies, for comparison N of the ' +
    `published pattern; then the number of keys in one request. At ${BUSY} connections the same is measured as throughput, and writing with commits of ` +
    `${WRITE_COMMIT_MS} ms, to tell how many readings per write slots stand: the time that a write saves, divided by the time that a reading takes longer. Every reading is checked.`,
  seconds: 1,
  variants: [...quiet, ...batches, ...loaded, ...writing],
  columns: ['p50Ms', 'p99Ms', 'perSecond', 'cpuMicros'],
  comparisons: [
    {
      says: 'median ms: exact reading of 1,000 pending slots against one row',
      figure: 'p50Ms',
      of: exact(1_000),
      to: ROW,
      target: { atMost: 1.5 },
    },
    { says: 'median ms: exact reading of 10 pending slots against one row', figure: 'p50Ms', of: exact(10), to: ROW },
    { says: 'median ms: total only against one row', figure: 'p50Ms', of: TOTAL, to: ROW },
    { says: 'median ms: 1,000 keys at once against one', figure: 'p50Ms', of: batch(1_000), to: batch(1) },
  ],
  charts({ runs }) {
    const row = medianOf(runs, ROW, 'p50Ms')
    const line = Number.isNaN(row) ? [] : [1, 10_000].map((slots) => ({ slots, y: row, read: 'one row' }))
    const mixes = [0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999].flatMap((share) => {
      const seconds = (variant: string) => 1 / medianOf(runs, variant, 'perSecond')
      const ways: [string, string, string][] = [
        ['one row', WRITE_ONE_ROW, busy(ROW)],
        ...[1, 100, 1_000].map((pending): [string, string, string] => [
          `group commit, ${number(pending)} pending`,
          WRITE_GROUP,
          busy(exact(pending)),
        ]),
      ]
      return ways.map(([way, write, read]) => {
        const perSecond = 1 / ((1 - share) * seconds(write) + share * seconds(read))
        return { variant: way, way, share: share * 100, median: perSecond, low: perSecond, high: perSecond }
      })
    })
    return [
      lineChart(
        {
          name: 'reading',
          alt: 'Median time of an exact reading by number of slots',
          points: pointsOf(quiet, runs, 'p50Ms').filter(({ slots }) => slots !== undefined),
          series: { field: 'read', title: 'reading' },
          x: { field: 'slots', title: 'slots that are summed', log: true, values: PENDING },
          y: { title: 'median, ms' },
        },
        line,
      ),
      ...(mixes.some(({ median }) => Number.isNaN(median))
        ? []
        : [
            lineChart({
              name: 'reading-mix',
              alt: 'Requests per second by the share of readings, worked out from what each takes',
              points: mixes,
              series: { field: 'way', title: 'counted in' },
              x: { field: 'share', title: 'readings, % of all requests' },
              y: { title: `requests/s, ${BUSY} connections`, log: true },
            }),
          ]),
    ]
  },
  findings({ runs }) {
    const ms = (variant: string) => about(medianOf(runs, variant, 'p50Ms'))
    const even = breakEven(runs, 100)
    return [
      `Read exactly by default: 10 pending slots take ${ms(exact(10))} ms, 1,000 take ${ms(exact(1_000))} ms, a plain row ${ms(ROW)} ms; ask for many keys at ` +
        `once (1,000 in ${ms(batch(1_000))} ms), and for \`?consistency=rolled\` (${ms(TOTAL)} ms) where a minute’s delay does not matter.`,
      even > 0
        ? `With 100 slots pending and commits of ${WRITE_COMMIT_MS} ms, slots pay until there are ${about(even)} readings per write; what is read more often than that ` +
          'should be read rolled up, or be one row.'
        : 'With 100 slots pending a reading takes no longer than one row’s: slots always pay.',
    ]
  },
  derived: ({ runs }) => [
    {
      title: 'Readings per write up to which slots pay',
      text: `From the table above: (time of a write in one row − with group commit) ÷ (time of an exact reading − of one row), commits of ${WRITE_COMMIT_MS} ms.`,
      headings: ['pending when read', 'readings per write'],
      rows: [1, 100, 1_000].map((pending) => {
        const even = breakEven(runs, pending)
        return [number(pending), Number.isNaN(even) ? '–' : even > 0 ? about(even) : 'always']
      }),
    },
  ],
  once: (rig, _, rounds) => readPathTable(rig, rounds),
}
