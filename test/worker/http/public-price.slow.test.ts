import { beforeAll, describe, expect, it } from 'vitest'
import { bucketSql } from '../../../bench/harness/bucket-sql.ts'
import { counterValues } from '../../../src/counters/counters-sql.ts'
import { hash64 } from '../../../src/counters/ids.ts'
import { onVitess } from '../../harness/on-vitess.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { sharedWorker } from '../../harness/worker.ts'

/** Rows that any public request may read, and one whose answer is kept for all who ask meanwhile. */
const MOST_ROWS = 5_000
const MOST_KEPT_ROWS = 50_000
/** A week of a feed: 20,000 rows to rank, and twice as many for what rose, which a temporary table has too. Both are counted before. */
const MOST_ROWS_OF_WEEK = 2 * 20_000 + 3 * 40_000

/** Pending slots of one counter, and those of a counter that is still read exactly. */
const PENDING = 400_000
const STILL_EXACT = 2_000
/** Slots of counters of which the first ones are emptied already, and how many of these: the roll-up goes by their order. */
const SLOTS = 100_000
const EMPTIED = [10_000, 75_000, 98_000]
/** The same of a type. */
const PENDING_OF_TYPE = 10_000
const STILL_EXACT_OF_TYPE = 500
/** Counters of lists, and the slots of each that are still read exactly. */
const LIST = 1_000
const LIST_SLOTS = 20
const FEW = 10
/** The most keys with a prefix that a total adds up without a token. */
const WITH_PREFIX = 7_500
const COUNTERS_OF_TYPE = 1_000_000
/** Counters with something in each of the last days, weeks and months. */
const RANKED = 1_600
const YEARS = 20
const HOUR_DAYS = 90
/** Roll-up lanes that have rows in the history of a type. */
const LANES = 6
const ZONE = 'Asia/Kolkata'
const DAY_MS = 86_400_000

// No kept answer becomes too old, and no hour ends.
stopClockOfFile()
const { db, worker } = sharedWorker({
  COUNTERS: {
    page: { record_type: 1, public: true, public_page: true, counting_badge: true, allowed_origins: ['*'] },
    app: { record_type: 2, public: true, prefixes: ['/app-', '/app-1', '/app-12', '/'], allowed_origins: ['*'] },
    small: { record_type: 4, public: true },
    file: { record_type: 3, public: true, allowed_origins: ['*'], redirect_to: 'https://files.example/' },
  },
})

/** The largest data: much more than strangers can bring about within the limits as shipped. */
async function fill() {
  await db.execute('CREATE TABLE numbers (n INT UNSIGNED PRIMARY KEY)')
  await db.execute('INSERT INTO numbers VALUES (0)')
  for (let rows = 1; rows < COUNTERS_OF_TYPE; rows *= 2)
    await db.execute(`INSERT INTO numbers SELECT n + ${rows} FROM numbers`)
  const insert = (table: string, columns: string, below: number, more = '') =>
    db.execute(`INSERT INTO ${table} SELECT ${columns} FROM numbers ${more} WHERE n < ${below}`)
  // The id of a counter is not the hash of its key here. Nothing asks for these by key.
  const id = 'n * 184467440737 + 1'
  const own = `${id}, ${bucketSql(id)}`
  for (const [type, prefix, rows] of [
    [1, '/page-', COUNTERS_OF_TYPE],
    [2, '/app-', WITH_PREFIX],
  ] as const) {
    await insert('counters', `${type}, ${own}, CONCAT('${prefix}', n), NULL, n, 1, NULL`, rows)
  }
  const slot = '(record_type, record_id, bucket, slot, count, batch, kept_until)'
  await insert(`slotted_counters ${slot}`, `2, ${own}, n, 1, n, 1`, PENDING_OF_TYPE)
  const named = async (key: string, slots: number, emptied = 0) => {
    const recordId = await hash64(key)
    const counter = counterValues({ recordType: 1, recordId })
    await insert('counters', `${counter}, '${key}', NULL, 5, 1, NULL`, 1)
    await insert(`slotted_counters ${slot}`, `${counter}, n * 46116860184273, n >= ${emptied}, n, 1`, slots)
    return counter
  }
  await named('/hot', PENDING)
  for (const emptied of EMPTIED) await named(`/emptied-${emptied}`, SLOTS, emptied)
  const exact = await named('/exact', STILL_EXACT)
  for (let i = 0; i < FEW; i++) await named(`/few-${i}`, STILL_EXACT / FEW)
  const listed = await Promise.all(Array.from({ length: LIST }, (_, i) => hash64(`/list-${i}`)))
  const ofListed = (row: (recordId: bigint, i: number) => string) => listed.map(row)
  await db.insert(
    'names',
    ofListed((recordId, i) => `(1, ${recordId}, '/list-${i}')`),
  )
  await db.insert(
    'totals',
    ofListed((recordId) => `(1, ${recordId}, 5, 1, NULL)`),
  )
  for (let i = 0; i < LIST_SLOTS; i++) {
    await db.insert(
      'slotted_counters',
      ofListed((recordId) => `(1, ${recordId}, ${i}, 1, 1, 1)`),
    )
  }
  await insert(`slotted_counters ${slot}`, `4, ${own}, n, 1, n, 1`, STILL_EXACT_OF_TYPE)
  const days = YEARS * 365
  const day = 'CURDATE() - INTERVAL n DAY'
  const [first, hour] = ['CURDATE() - INTERVAL n MONTH', 'CURDATE() - INTERVAL n HOUR']
  const month = `${first} - INTERVAL DAY(${first}) - 1 DAY`
  await insert('counter_history', `${exact}, ${hour}, 1`, HOUR_DAYS * 24)
  await insert('counter_periods', `${exact}, 1, ${day}, 1`, days)
  await insert('counter_periods', `${exact}, 2, ${month}, 1`, YEARS * 12)
  const join = (name: string, rows: number) =>
    `JOIN (${Array.from({ length: rows }, (_, i) => `SELECT ${i} AS ${name}`).join(' UNION ALL ')}) AS more_rows`
  const monthOf = month.replaceAll('INTERVAL n', 'INTERVAL m')
  await insert('counter_periods', `2, ${own}, 2, ${monthOf}, 1`, WITH_PREFIX, join('m', 13))
  // More than a ranking of strangers adds up, in all the days and months that it may need.
  const dayOf = day.replace('INTERVAL n', 'INTERVAL m')
  await insert('counter_periods', `1, ${own}, 1, ${dayOf}, n + 1`, RANKED, join('m', 62))
  await insert('counter_periods', `1, ${own}, 2, ${monthOf}, n + 1`, RANKED, join('m', 36))
  const lanes = join('lane', LANES)
  for (const type of [1, 2, 4]) {
    await insert('type_history', `${type}, 0, ${hour}, lane, 397, 1`, HOUR_DAYS * 24, lanes)
    await insert('type_history', `${type}, 1, ${day}, lane, 397, 1`, days, lanes)
    await insert('type_history', `${type}, 2, ${month}, lane, 397, 1`, YEARS * 12, lanes)
  }
  await db.execute('DROP TABLE numbers')
  await db.execute('ANALYZE TABLE slotted_counters, counters, counter_periods, type_history')
}

const dayText = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)
const history = (by: string, days: number, more: Record<string, string> = {}) =>
  `history?${new URLSearchParams({ by, from: dayText(days), tz: ZONE, ...more })}`
const monthsAgo = (ago: number) => {
  const [year, month] = dayText(0).split('-').map(Number)
  return new Date(Date.UTC(year!, month! - 1 - ago)).toISOString().slice(0, 10)
}
/** The longest period of a top list: it begins and ends in the middle of a month. */
const SPAN = `from=${dayText(1_000)}&to=${dayText(0)}`
const keys = (count: number, key: string) => Array.from({ length: count }, (_, i) => `key=/${key}-${i}`).join('&')
const [HOT, EXACT] = ['/v1/counters/page/%2Fhot', '/v1/counters/page/%2Fexact']
const AGENT = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' }

/** Each kind of public request, and whether the answer is kept. */
const REQUESTS: Record<
  string,
  [path: string, options?: { kept?: true; mostRows?: number; readings?: number; status?: number; init?: RequestInit }]
> = {
  'a counter with 2,000 pending slots': [EXACT],
  'a badge of a month': ['/badge/page/%2Fexact.json?period=month'],
  'a hit': ['/hit?type=page&key=/hot', { init: { method: 'POST' } }],
  'a pixel': ['/hit.gif?type=page&key=/hot'],
  'a check of a browser': ['/check?type=page&page=https://example.com/hot', { init: { method: 'POST' } }],
  'a download': ['/d/file/setup.zip'],
  'a counting badge': ['/hit/page/%2Fhot.svg'],
  'a badge': ['/badge/page/%2Fhot.svg'],
  'a counter with 400,000 pending slots': [HOT],
  ...Object.fromEntries(
    EMPTIED.flatMap((emptied): [string, [path: string]][] => {
      const of = `with ${SLOTS} slots, the first ${emptied} of them emptied`
      return [
        [`a counter ${of}`, [`/v1/counters/page/%2Femptied-${emptied}`]],
        [`a badge of one ${of}`, [`/badge/page/%2Femptied-${emptied}.svg`]],
        [`the history of one ${of}`, [`/v1/counters/page/%2Femptied-${emptied}/history`]],
        [`a list with one ${of}`, [`/v1/counters/page?key=/few-1&key=/emptied-${emptied}`]],
      ]
    }),
  ),
  'a counter, rolled': [`${HOT}?consistency=rolled`],
  '10 counters': [`/v1/counters/page?${keys(10, 'few')}`],
  '100 counters': [`/v1/counters/page?${keys(100, 'list')}`],
  '1,000 counters, which are ten readings': [`/v1/counters/page?${keys(1_000, 'list')}`, { readings: 10 }],
  'the counts of 99 elements on a page, and a total, which are two readings': [
    `/v1/shown?${keys(99, 'list').replaceAll('key=', 'of=page+')}&of=small*+`,
    { readings: 2 },
  ],
  'a history of 30 days': [`${EXACT}/${history('day', 30)}`],
  'a history of 2,000 days': [`${EXACT}/${history('day', 1_990)}`, { kept: true }],
  'a history of 2,000 hours': [`${EXACT}/${history('hour', 82)}`, { kept: true }],
  'a history of 20 years, by weeks': [`${EXACT}/${history('week', YEARS * 365)}`, { kept: true }],
  'a history of 20 years': [`${EXACT}/${history('month', YEARS * 365)}`],
  'the total of a type with 10,000 pending slots': ['/v1/types/app'],
  'the total of a type with 500': ['/v1/types/small'],
  'the badge of a total': ['/badge/small.svg?period=week'],
  'the total of a prefix': ['/v1/types/app?prefix=/app-', { kept: true }],
  'the total of a prefix, rolled': ['/v1/types/app?prefix=/app-&consistency=rolled', { kept: true }],
  'the month of a prefix': ['/badge/app.svg?period=month&prefix=/app-12', { kept: true }],
  'the history of a type': [`/v1/types/page/${history('day', 30)}`],
  'the history of a type, 2,000 days': [`/v1/types/page/${history('day', 1_990)}`, { kept: true }],
  'the history of a type, 20 years by weeks': [`/v1/types/page/${history('week', YEARS * 365)}`, { kept: true }],
  'the history of a prefix': [
    `/v1/types/app/${history('month', 365, { prefix: '/app-1', tz: 'UTC' })}`,
    { kept: true },
  ],
  'a top list': ['/v1/top/page?limit=100'],
  'a top list of 1,000 days, which is refused': [`/v1/top/page?limit=100&${SPAN}`, { kept: true, status: 422 }],
  'a top list of a prefix': ['/v1/top/app?limit=100&prefix=/app-', { kept: true }],
  'a top list of a prefix, 17 months': [
    `/v1/top/app?limit=100&prefix=/app-1&from=${monthsAgo(17)}&to=${monthsAgo(0)}`,
    { kept: true },
  ],
  'a chart of 90 days': ['/chart/page/%2Fexact.svg?period=90d', { kept: true }],
  'a chart of a type': ['/chart/page.svg?period=90d', { kept: true }],
  'a chart of a prefix': ['/chart/app.svg?period=12m&prefix=/app-1', { kept: true }],
  'a public page': ['/stats/page', { kept: true }],
  'its 30 days in a time zone': [`/stats/page?tz=${ZONE}`, { kept: true }],
  'its numbers of all time': [`/stats/page?period=all&tz=${ZONE}`, { kept: true }],
  // An hour of its page may read 120 times as much as the page once.
  'a weekly feed, which is kept for an hour': ['/stats/page.atom', { kept: true, mostRows: 2 * MOST_ROWS_OF_WEEK }],
  'the state of the service': ['/healthz'],
}

// On Vitess, the endpoint cannot tell how many rows a server has read.
describe.skipIf(onVitess)('A public request, whatever the database holds', () => {
  // Two million rows.
  beforeAll(fill, 300_000)

  it.each(Object.entries(REQUESTS))(
    '%s reads a bounded number of rows',
    async (name, [path, { kept, mostRows, readings = 1, status, init } = {}]) => {
      const ask = async () => {
        let bytes = 0
        const statements = await db.recording(async () => {
          const response = await worker.fetch(path, { ...init, headers: AGENT })
          if (status === undefined) expect([path, response.status < 400]).toEqual([path, true])
          else expect(response.status).toBe(status)
          bytes = (await response.arrayBuffer()).byteLength
        })
        return {
          bytes,
          statements: statements.length,
          rows: statements.reduce((sum, { rowsRead }) => sum + (rowsRead ?? 0), 0),
        }
      }
      const first = await ask()
      console.log(`| ${name} | ${first.rows} | ${first.bytes} | ${kept ? 'yes' : ''} |`)
      expect(first.rows).toBeLessThanOrEqual(mostRows ?? (kept ? MOST_KEPT_ROWS : readings * MOST_ROWS))
      const again = await ask()
      if (kept) expect(again.statements).toBe(0)
      else expect(again.rows).toBeLessThanOrEqual(readings * MOST_ROWS)
    },
  )
})
