import { beforeAll, describe, expect, it } from 'vitest'
import { readRollUpState } from '../../../../src/counters/background-runs.ts'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { type AskedRange, historyRange } from '../../../../src/counters/history/history-range.ts'
import { readRanking } from '../../../../src/counters/history/ranking.ts'
import { type Selection, selectionOf } from '../../../../src/counters/history/selection.ts'
import { TooManyKeys } from '../../../../src/counters/keys/prefix.ts'
import { expireHours } from '../../../../src/counters/old-rows.ts'
import {
  RECENT_DAYS,
  type RecentPeriod,
  readCounters,
  recentDays,
} from '../../../../src/counters/read/read-counters.ts'
import { searchCounters } from '../../../../src/counters/read/search.ts'
import { readBacklog } from '../../../../src/counters/rollup/roll-up.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { counterHistory, sumHistory } from '../../../harness/histories.ts'
import { countAll, rollUpAt } from '../../../harness/moves.ts'
import { onVitess } from '../../../harness/on-vitess.ts'

const COUNTERS = 100_000
/** Counters with a history: every hour of 30 days. */
const ACTIVE = 1_000
const HOURS = 30 * 24
const FIRST = '2026-10-21'
/** The months of these 30 days: period, start, number of days. */
const CALENDAR = [
  [2, '2026-10-01', 11],
  [2, '2026-11-01', 19],
] as const
/** The sum over all of them for one hour. Each counts 1 to 7, by its id. */
const ALL_IN_AN_HOUR = Array.from({ length: ACTIVE }, (_, id) => 1 + (id % 7)).reduce((sum, one) => sum + one, 0)
const NOW = new Date('2026-11-19T23:30:00Z')
const TYPE = { recordType: 1 } as const
const ONE: CounterAddress = { recordType: 1, recordId: 711n, name: '/711' }

/** Runs something for each part of 0 to `rows`, so that no statement takes long. */
async function inParts(
  rows: number,
  part: number,
  work: (from: number, to: number) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < rows; from += part) await work(from, Math.min(from + part, rows))
}

// On Vitess, the endpoint cannot tell how many rows a server has read.
describe.skipIf(onVitess)('Among 100,000 counters, 1,000 of them with 30 days of history', () => {
  let db: TestDatabase
  const rangeOf = (asked: Partial<AskedRange>) =>
    historyRange({ by: 'day', timeZone: 'UTC', from: undefined, to: undefined, ...asked }, NOW)
  /** The rows that the server reads while something runs, by its own statistics. */
  const rowsRead = async (work: () => Promise<unknown>) =>
    (await db.recording(work)).reduce((sum, statement) => sum + statement.rowsRead, 0)

  beforeAll(async () => {
    db = await freshDatabase()
    await db.insert('names', `(1, 0, '/page/000000')`)
    for (let count = 1; count < COUNTERS; count *= 2) {
      await inParts(Math.min(count, COUNTERS - count), 250_000, (from, to) =>
        db.arrange(
          `INSERT INTO counters (record_type, record_id, name, count, version) SELECT 1, record_id + ${count}, CONCAT('/page/', LPAD(record_id + ${count}, 6, '0')), (record_id + ${count}) DIV 100, 1 FROM counters
           WHERE record_type = 1 AND record_id >= ${from} AND record_id < ${to}`,
        ),
      )
    }
    // A counter has the same count in every hour, so that all sums are known.
    const each = '(1 + c.record_id % 7)'
    await inParts(ACTIVE, 250, async (from, to) => {
      const some = `WHERE c.record_type = 1 AND c.record_id >= ${from} AND c.record_id < ${to}`
      const crossed = (length: number) =>
        `FROM counters AS c STRAIGHT_JOIN counters AS p ${some} AND p.record_type = 1 AND p.record_id < ${length}`
      await db.arrange(
        `INSERT INTO counter_history (record_type, record_id, period_start, count) SELECT 1, c.record_id, '${FIRST}' + INTERVAL p.record_id HOUR, ${each} ${crossed(HOURS)}`,
      )
      await db.arrange(
        `INSERT INTO counter_periods (record_type, record_id, period, period_start, count) SELECT 1, c.record_id, 1, '${FIRST}' + INTERVAL p.record_id DAY, 24 * ${each} ${crossed(30)}`,
      )
      for (const [period, start, days] of CALENDAR) {
        await db.arrange(
          `INSERT INTO counter_periods (record_type, record_id, period, period_start, count) SELECT 1, c.record_id, ${period}, '${start}', 24 * ${days} * ${each}
           FROM counters AS c ${some}`,
        )
      }
    })
    for (const [period, length, unit, hours] of [
      [0, HOURS, 'p.record_id HOUR', 1],
      [1, 30, 'p.record_id DAY', 24],
    ] as const) {
      await db.arrange(
        `INSERT INTO type_history (record_type, period, period_start, range_lane, count) SELECT 1, ${period}, '${FIRST}' + INTERVAL ${unit}, 0, ${hours} * ${ALL_IN_AN_HOUR}
         FROM counters AS p WHERE p.record_type = 1 AND p.record_id < ${length}`,
      )
    }
    for (const [period, start, days] of CALENDAR) {
      await db.insert('type_history', `(1, ${period}, '${start}', 0, ${24 * days * ALL_IN_AN_HOUR})`)
    }
    await db.execute('ANALYZE TABLE counters, counter_history, counter_periods, type_history')
    // The first use of a table also reads the server's dictionary.
    await counterHistory(db, ONE, rangeOf({ by: 'hour' }), NOW)
    await readBacklog(db)
    await readRollUpState(db)
  })

  const days = (from: string, to: string): Selection => {
    const [firstDay, nextDay] = [Date.parse(from), Date.parse(to)]
    return selectionOf({ from: firstDay, to: nextDay, firstDay, nextDay })
  }
  const ranked = (period: Selection | null, limit: number, maxRows?: number) =>
    readRanking(db, { ...TYPE, name: '' }, period, { limit, maxRows, hoursFrom: 0 })

  it('a ranking of all time, a day or a month reads about as many rows as it returns, of other periods its rows', async () => {
    const read: Record<string, number> = {}
    const all: [string, Selection | null, number][] = [
      ['all time', null, 0],
      ['day', days('2026-11-19', '2026-11-20'), 0],
      ['month', days('2026-11-01', '2026-12-01'), 0],
      ['week', days('2026-11-13', '2026-11-20'), 7 * ACTIVE],
    ]
    for (const [name, period, added] of all) {
      for (const limit of [10, 100]) {
        const rows = await rowsRead(async () => {
          const counters = await ranked(period, limit)
          expect(counters).toHaveLength(limit)
          const counts = counters.map(({ count }) => count)
          expect(counts.toSorted((a, b) => Number(b - a))).toEqual(counts)
        })
        read[`${name} ${limit}`] = rows
        // Counted, added up, and sorted in a table of their own.
        expect(rows).toBeLessThan(4 * limit + 10 + 4 * added)
      }
    }
    console.log('rows read for the top:', read)
  })

  it('a ranking is refused above a number of rows, and reads no more than these to find out', async () => {
    const period = days('2026-10-22', '2026-11-20')
    await expect(ranked(period, 10, 29 * ACTIVE)).resolves.toHaveLength(10)
    const rows = await rowsRead(() => expect(ranked(period, 10, 5_000)).rejects.toThrow(TooManyKeys))
    expect(rows).toBeLessThan(5_100)
  })

  it('a history reads only its own periods', async () => {
    const read: Record<string, number> = {}
    for (const timeZone of ['UTC', 'America/New_York']) {
      for (const by of ['hour', 'day', 'month'] as const) {
        const range = rangeOf({ by, timeZone })
        read[`counter by ${by}, ${timeZone}`] = await rowsRead(() => counterHistory(db, ONE, range, NOW))
        read[`type by ${by}, ${timeZone}`] = await rowsRead(async () =>
          sumHistory(db, { recordType: 1, name: '' }, range),
        )
      }
    }
    for (const period of Object.keys(RECENT_DAYS) as RecentPeriod[]) {
      read[`badge of a ${period}`] = await rowsRead(() => readCounters(db, [ONE], 10, recentDays(period, NOW)))
    }
    console.log('rows read for histories:', read)
    for (const rows of Object.values(read)) expect(rows).toBeLessThan(HOURS + 31 + 30)
    for (const timeZone of ['UTC', 'America/New_York']) {
      const range = rangeOf({ by: 'day', timeZone, from: '2026-10-20', to: '2026-11-21' })
      const sum = (counts: readonly bigint[]) => counts.reduce((all, one) => all + one, 0n)
      expect(sum((await counterHistory(db, ONE, range, NOW)).counts)).toBe(BigInt(HOURS * (1 + (711 % 7))))
      expect(sum(await sumHistory(db, { recordType: 1, name: '' }, range))).toBe(BigInt(HOURS * ALL_IN_AN_HOUR))
    }
  })

  it('a search reads one page, wherever the page is', async () => {
    const read: Record<string, number> = {}
    for (const [prefix, after] of [
      ['', null],
      ['', '/page/050000'],
      ['/page/077', null],
      ['/page/', '/page/099990'],
      ['/page/077777', null],
      ['/nothing', null],
    ] as const) {
      read[`${prefix} ${after}`] = await rowsRead(() => searchCounters(db, TYPE, { prefix, after, limit: 100 }))
    }
    console.log('rows read for searches:', read)
    // Names and totals, and both several times in the sum of totals and slots.
    for (const rows of Object.values(read)) expect(rows).toBeLessThan(8 * 100 + 20)
  })

  it('the first view of the dashboard reads a few hundred rows', async () => {
    const rows = await rowsRead(async () => {
      await ranked(days('2026-11-19', '2026-11-20'), 10)
      await sumHistory(db, { recordType: 1, name: '' }, rangeOf({ by: 'hour', from: '2026-11-18', to: '2026-11-20' }))
      await readBacklog(db)
      await readRollUpState(db)
    })
    expect(rows).toBeLessThan(300)
  })

  it('deleting old hours reads one page at a time, and does not block roll-ups', async () => {
    const at = new Date('2026-12-05T10:17:00Z')
    const before = await db.number('SELECT SUM(count) FROM counter_periods WHERE period = 1')
    const lockErrors: string[] = []
    const watched = db.open({
      deadlineMs: 60_000,
      fetch: async (input, init) => {
        const response = await fetch(input, init)
        const text = await response.clone().text()
        if (/errno (1205|1213)/.test(text)) lockErrors.push(String(init?.body))
        return response
      },
    })
    let deleting = true
    let rolled = 0n
    const roll = async () => {
      for (let batch = 1n; deleting; batch++) {
        // New hours right after the deleted ones, of the same counters.
        const increments = Array.from({ length: 200 }, (_, i) => {
          return { counter: { ...ONE, recordId: (batch * 200n + BigInt(i)) % BigInt(ACTIVE) }, by: 1n }
        })
        await countAll(watched, increments, batch, 1n)
        const options = { pageSlots: 2_000, maxStatements: 45, maxSeconds: 50, lease: true }
        const { moved } = await rollUpAt(watched, at, options)
        rolled += moved
      }
    }
    const statements = await db.recording(async () => {
      const rolling = roll()
      try {
        // Until enough was rolled up meanwhile, however the machine shares its time.
        for (let run = 0; run < 2 || rolled <= 400n; run++) {
          const options = { hourDays: 31, pageHours: 1_000, maxStatements: 49, recordTypes: [1], at }
          const summary = await expireHours(watched, options)
          expect(summary).toMatchObject({ outcome: 'partial', kept: 0 })
          expect(summary.statements).toBeLessThanOrEqual(49)
          expect(summary.deleted).toBeGreaterThan(22_000)
        }
      } finally {
        deleting = false
        await rolling
      }
    })
    expect(lockErrors).toEqual([])
    expect(rolled).toBeGreaterThan(400n)
    const pages = statements.filter(({ sql }) => /^(DELETE|SELECT h\.)/.test(sql))
    expect(Math.max(...pages.map(({ rowsRead }) => rowsRead))).toBeLessThan(4 * 1_000)
    console.log(
      'deleted while',
      rolled,
      'were rolled up. Most rows read by one statement:',
      Math.max(...pages.map(({ rowsRead }) => rowsRead)),
    )
    expect(await db.number('SELECT SUM(count) FROM counter_periods WHERE period = 1')).toBe(before + rolled)
  })
})
