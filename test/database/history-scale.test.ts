import { beforeAll, describe, expect, it } from 'vitest'
import { applyBatch, makeBatch } from '../../src/counters/batch.ts'
import type { Counter } from '../../src/counters/counter.ts'
import { fold } from '../../src/counters/fold.ts'
import { type AskedRange, historyRange } from '../../src/counters/history-range.ts'
import { readCounterHistory, readTypeHistory } from '../../src/counters/read-history.ts'
import { type Period, readPeriod } from '../../src/counters/read-period.ts'
import { countPending, rollUp } from '../../src/counters/rollup.ts'
import { readRollUpState } from '../../src/counters/rollup-state.ts'
import { searchCounters } from '../../src/counters/search.ts'
import { readTop, type TopPeriod } from '../../src/counters/top.ts'
import { openDatabase } from '../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'

const COUNTERS = 1_000_000
/** Those with a history: every hour of 30 days. */
const ACTIVE = 10_000
const HOURS = 30 * 24
const FIRST = '2026-10-21'
/** Its weeks and months, and how many of its days lie in them. */
const CALENDAR = [
  [2, '2026-10-19', 5],
  [2, '2026-10-26', 7],
  [2, '2026-11-02', 7],
  [2, '2026-11-09', 7],
  [2, '2026-11-16', 4],
  [3, '2026-10-01', 11],
  [3, '2026-11-01', 19],
] as const
/** What all of them count in an hour: 1 to 7, by their ids. */
const ALL_IN_AN_HOUR = Array.from({ length: ACTIVE }, (_, id) => 1 + (id % 7)).reduce((sum, one) => sum + one, 0)
/** Nine million rows take a minute, on a machine that has much else to do several. */
const FILL_MS = 600_000
const NOW = new Date('2026-11-19T23:30:00Z')
const TYPE = { recordType: 1, key: 'string' } as const
const ONE: Counter = { recordType: 1, recordId: 4_711n, name: null }

/** Runs something for each part of 0…rows, so that no statement takes long. */
async function inParts(
  rows: number,
  part: number,
  work: (from: number, to: number) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < rows; from += part) await work(from, Math.min(from + part, rows))
}

describe('among 1,000,000 counters, 10,000 of them with 30 days of history', () => {
  let db: TestDatabase
  const rangeOf = (asked: Partial<AskedRange>) =>
    historyRange({ by: 'day', timeZone: 'UTC', from: undefined, to: undefined, ...asked }, NOW)
  /** What the server reads for something, by its own counters. */
  const rowsRead = async (work: () => Promise<unknown>) =>
    (await db.recording(work)).reduce((sum, statement) => sum + statement.rowsRead, 0)

  beforeAll(async () => {
    db = await freshDatabase()
    await db.execute('INSERT INTO counter_totals VALUES (1, 0, 0, 1, NULL)')
    for (let count = 1; count < COUNTERS; count *= 2) {
      await inParts(Math.min(count, COUNTERS - count), 250_000, (from, to) =>
        db.execute(
          `INSERT INTO counter_totals SELECT 1, record_id + ${count}, (record_id + ${count}) DIV 1000, 1, NULL FROM counter_totals
           WHERE record_type = 1 AND record_id >= ${from} AND record_id < ${to}`,
        ),
      )
    }
    await inParts(COUNTERS, 250_000, (from, to) =>
      db.execute(
        `INSERT INTO counter_names SELECT 1, record_id, CONCAT('/page/', LPAD(record_id, 6, '0')) FROM counter_totals
         WHERE record_type = 1 AND record_id >= ${from} AND record_id < ${to}`,
      ),
    )
    // Each counter as much in every hour, so that all sums are known.
    const each = '(1 + c.record_id % 7)'
    await inParts(ACTIVE, 1_000, async (from, to) => {
      const some = `WHERE c.record_type = 1 AND c.record_id >= ${from} AND c.record_id < ${to}`
      const crossed = (length: number) =>
        `FROM counter_totals AS c STRAIGHT_JOIN counter_totals AS p ${some} AND p.record_type = 1 AND p.record_id < ${length}`
      await db.execute(
        `INSERT INTO counter_history SELECT 1, c.record_id, '${FIRST}' + INTERVAL p.record_id HOUR, ${each} ${crossed(HOURS)}`,
      )
      await db.execute(
        `INSERT INTO counter_periods SELECT 1, c.record_id, 1, '${FIRST}' + INTERVAL p.record_id DAY, 24 * ${each} ${crossed(30)}`,
      )
      for (const [period, start, days] of CALENDAR) {
        await db.execute(
          `INSERT INTO counter_periods SELECT 1, c.record_id, ${period}, '${start}', 24 * ${days} * ${each}
           FROM counter_totals AS c ${some}`,
        )
      }
    })
    for (const [period, length, unit, hours] of [
      [0, HOURS, 'p.record_id HOUR', 1],
      [1, 30, 'p.record_id DAY', 24],
    ] as const) {
      await db.execute(
        `INSERT INTO type_history SELECT 1, ${period}, '${FIRST}' + INTERVAL ${unit}, ${hours} * ${ALL_IN_AN_HOUR}
         FROM counter_totals AS p WHERE p.record_type = 1 AND p.record_id < ${length}`,
      )
    }
    for (const [period, start, days] of CALENDAR) {
      await db.execute(`INSERT INTO type_history VALUES (1, ${period}, '${start}', ${24 * days * ALL_IN_AN_HOUR})`)
    }
    await db.execute('ANALYZE TABLE counter_totals, counter_names, counter_history, counter_periods, type_history')
    // The first use of a table reads the server's own dictionary.
    await readCounterHistory(db, ONE, rangeOf({ by: 'hour' }), NOW)
    await countPending(db)
    await readRollUpState(db)
  }, FILL_MS)

  it('the top of any period reads about as many rows as it names', async () => {
    const read: Record<string, number> = {}
    const all: TopPeriod[] = [
      { period: 'all' },
      { period: 'day', start: new Date('2026-11-19') },
      { period: 'week', start: new Date('2026-11-16') },
      { period: 'month', start: new Date('2026-11-01') },
    ]
    for (const top of all) {
      for (const limit of [10, 100]) {
        const rows = await rowsRead(async () => {
          const counters = await readTop(db, TYPE, top, limit)
          expect(counters).toHaveLength(limit)
          const counts = counters.map(({ count }) => count)
          expect(counts.toSorted((a, b) => Number(b - a))).toEqual(counts)
        })
        read[`${top.period} ${limit}`] = rows
        expect(rows).toBeLessThan(4 * limit + 10)
      }
    }
    console.log('rows read for the top:', read)
  })

  it('a history reads its own periods', async () => {
    const read: Record<string, number> = {}
    for (const timeZone of ['UTC', 'America/New_York']) {
      for (const by of ['hour', 'day', 'month'] as const) {
        const range = rangeOf({ by, timeZone })
        read[`counter by ${by}, ${timeZone}`] = await rowsRead(() => readCounterHistory(db, ONE, range, NOW))
        read[`type by ${by}, ${timeZone}`] = await rowsRead(() => readTypeHistory(db, 1, range))
      }
    }
    for (const period of ['day', 'week', 'month'] as Period[]) {
      read[`badge of a ${period}`] = await rowsRead(() => readPeriod(db, ONE, period, NOW))
    }
    console.log('rows read for histories:', read)
    for (const rows of Object.values(read)) expect(rows).toBeLessThan(HOURS + 31 + 30)
    for (const timeZone of ['UTC', 'America/New_York']) {
      const range = rangeOf({ by: 'day', timeZone, from: '2026-10-20', to: '2026-11-21' })
      const sum = (counts: readonly bigint[]) => counts.reduce((all, one) => all + one, 0n)
      expect(sum((await readCounterHistory(db, ONE, range, NOW)).counts)).toBe(BigInt(HOURS * (1 + (4_711 % 7))))
      expect(sum(await readTypeHistory(db, 1, range))).toBe(BigInt(HOURS * ALL_IN_AN_HOUR))
    }
  })

  it('a search reads a page, wherever it is', async () => {
    const read: Record<string, number> = {}
    for (const [prefix, after] of [
      ['', null],
      ['', '/page/500000'],
      ['/page/77', null],
      ['/page/', '/page/999990'],
      ['/page/777777', null],
      ['/nothing', null],
    ] as const) {
      read[`${prefix} ${after}`] = await rowsRead(() => searchCounters(db, TYPE, { prefix, after, limit: 100 }))
    }
    console.log('rows read for searches:', read)
    // Names, their totals, and both several times in the sum of totals and slots.
    for (const rows of Object.values(read)) expect(rows).toBeLessThan(8 * 100 + 20)
  })

  it('what a dashboard shows at first reads a few hundred rows', async () => {
    const rows = await rowsRead(async () => {
      await readTop(db, TYPE, { period: 'day', start: new Date('2026-11-19') }, 10)
      await readTypeHistory(db, 1, rangeOf({ by: 'hour', from: '2026-11-18', to: '2026-11-20' }))
      await countPending(db)
      await readRollUpState(db)
    })
    expect(rows).toBeLessThan(300)
  })

  it('folding reads and deletes a page at a time, and holds no roll-up up', async () => {
    const at = new Date('2026-12-05T10:17:00Z')
    const before = await db.number('SELECT SUM(count) FROM counter_periods WHERE period = 1')
    const lockErrors: string[] = []
    const watched = openDatabase({
      url: db.url,
      deadlineMs: 60_000,
      fetch: async (input, init) => {
        const response = await fetch(input, init)
        const text = await response.clone().text()
        if (/errno (1205|1213)/.test(text)) lockErrors.push(String(init?.body))
        return response
      },
    })
    let folding = true
    let rolled = 0n
    const roll = async () => {
      for (let batch = 1n; folding; batch++) {
        // New hours right after those that are deleted, of counters that are being folded.
        const increments = Array.from({ length: 200 }, (_, i) => {
          return { counter: { ...ONE, recordId: (batch * 200n + BigInt(i)) % BigInt(ACTIVE) }, by: 1n }
        })
        await applyBatch(
          watched,
          makeBatch(batch, increments, () => 1n),
        )
        const { moved } = await rollUp(watched, { at, pageSlots: 2_000, maxStatements: 45, maxSeconds: 50 })
        rolled += moved
      }
    }
    const statements = await db.recording(async () => {
      const rolling = roll()
      try {
        for (let run = 0; run < 2; run++) {
          const options = { hourDays: 31, pageHours: 1_000, maxStatements: 49, recordTypes: [1], at }
          const summary = await fold(watched, options)
          expect(summary).toMatchObject({ outcome: 'partial', kept: 0 })
          expect(summary.statements).toBeLessThanOrEqual(49)
          expect(summary.deleted).toBeGreaterThan(22_000)
        }
      } finally {
        folding = false
        await rolling
      }
    })
    expect(lockErrors).toEqual([])
    expect(rolled).toBeGreaterThan(400n)
    const pages = statements.filter(({ sql }) => /^(DELETE|SELECT h\.)/.test(sql))
    expect(Math.max(...pages.map(({ rowsRead }) => rowsRead))).toBeLessThan(4 * 1_000)
    console.log(
      'folded while',
      rolled,
      'were rolled up; most rows read by one statement:',
      Math.max(...pages.map(({ rowsRead }) => rowsRead)),
    )
    expect(await db.number('SELECT SUM(count) FROM counter_periods WHERE period = 1')).toBe(before + rolled)
  })
})
