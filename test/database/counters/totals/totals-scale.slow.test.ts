import { beforeAll, describe, expect, it } from 'vitest'
import { readTotal, totalOf } from '../../../../src/counters/history/read-total.ts'
import { addressOfKey } from '../../../../src/counters/keys/counter-address.ts'
import { KeptSums } from '../../../../src/counters/ledger/kept-sums.ts'
import { Overtaken } from '../../../../src/counters/ledger/totals.ts'
import { COUNTERS_PER_STEP } from '../../../../src/counters/rollup/build-prefixes.ts'
import { rollUp } from '../../../../src/counters/rollup/roll-up.ts'
import { type Database, openDatabase } from '../../../../src/database/database.ts'
import { DatabaseFailure } from '../../../../src/database/errors.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { cutFetch } from '../../../harness/faulty-fetch.ts'
import { TestIsolate } from '../../../harness/isolate.ts'
import { onVitess } from '../../../harness/on-vitess.ts'
import { Random } from '../../../harness/random.ts'
import { exactTotal, expectSums } from '../../../harness/totals.ts'

/** Counters with the prefix, and all counters: first few, then many. */
const MATCHING = 10_000
const FEW = 20_000
const MANY = 200_000
/** What each of them has, with the prefix and without it. */
const WITH_PREFIX = 5n
const WITHOUT = 2n
/** Counters with and without the prefix that have something pending, of 1 each, while totals are read. */
const PENDING = 100
const APP = 'app-'
/** It begins the same keys, and is declared later. */
const LATER = 'ap'
/** Statements of a run that builds, and the most runs. Half of them are cut off. */
const STATEMENTS = 120
const MOST_RUNS = 100
/** Milliseconds. The rows take a minute, and several minutes on a busy machine. */
const SLOW_MS = 600_000

const DECLARED = [APP, LATER].map((text) => ({ recordType: 1, text }))
const addressOf = (key: string) => addressOfKey({ recordType: 1, key: 'string' }, key)
const keyOf = (begin: string, i: number) => begin + String(i).padStart(7, '0')
const DIGIT = `(SELECT 0 AS d${[1, 2, 3, 4, 5, 6, 7, 8, 9].map((d) => ` UNION ALL SELECT ${d}`).join('')})`
/** Rows with `i` from 0 to 9,999. */
const NUMBERS = `(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS i FROM ${DIGIT} AS a, ${DIGIT} AS b, ${DIGIT} AS c, ${DIGIT} AS e) AS numbers`

/** Makes counters with an adjustment of 2 each. */
async function fill(db: TestDatabase, begin: string, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += 10_000) {
    await db.arrange(
      `INSERT INTO counter_names (record_type, record_id, name)
       SELECT 1, CONV(LEFT(SHA2(name, 256), 16), 16, 10), name
       FROM (SELECT CONCAT('${begin}', LPAD(${first} + i, 7, '0')) AS name FROM ${NUMBERS}) AS n`,
    )
    const named = `FROM counter_names WHERE record_type = 1 AND name BETWEEN '${keyOf(begin, first)}' AND '${keyOf(begin, first + 9_999)}'`
    await db.arrange(
      `INSERT INTO counter_totals (record_type, record_id, count, version, rolled_up_at) SELECT 1, record_id, 2, 1, NULL ${named}`,
    )
    await db.arrange(
      `INSERT INTO counter_adjustments (record_type, record_id, adjustment_id, kind, adjusted_at, count)
       SELECT 1, record_id, 7, 2, '2026-10-05', 2 ${named}`,
    )
  }
  await db.arrange(
    `INSERT INTO type_history (record_type, period, period_start, range_lane, count)
     VALUES (1, 4, '1970-01-01', 0, ${2 * (to - from)}) ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
  )
}

/** Adds a history of 3 to each counter that there is, in some hour of one day. */
async function addHistory(db: TestDatabase): Promise<void> {
  await db.arrange('UPDATE counter_totals SET count = count + 3 WHERE record_type = 1')
  await db.arrange(
    `INSERT INTO counter_history (record_type, record_id, period_start, count)
     SELECT 1, record_id, '2026-10-05' + INTERVAL (record_id MOD 24) HOUR, 3 FROM counter_totals WHERE record_type = 1`,
  )
  for (const [period, start] of [
    [1, '2026-10-05'],
    [2, '2026-10-05'],
    [3, '2026-10-01'],
  ] as const) {
    await db.arrange(
      `INSERT INTO counter_periods (record_type, record_id, period, period_start, count)
       SELECT 1, record_id, ${period}, '${start}', 3 FROM counter_totals WHERE record_type = 1`,
    )
  }
  await db.arrange(
    `INSERT INTO type_history (record_type, period, period_start, range_lane, count)
     SELECT 1, 0, period_start, 0, SUM(count) FROM counter_history WHERE record_type = 1 GROUP BY period_start
     UNION ALL SELECT 1, period, period_start, 0, SUM(count) FROM counter_periods WHERE record_type = 1 GROUP BY period, period_start`,
  )
}

const roll = (db: Database, declared: typeof DECLARED, { maxStatements = 5_000 } = {}) =>
  rollUp(
    { db, totals: null, sums: new KeptSums(declared) },
    { at: new Date(), pageSlots: 200, maxStatements, maxSeconds: 60, lease: false },
  )
const tolerant = <T>(work: Promise<T>): Promise<T | null> =>
  work.catch((error: unknown) => {
    if (error instanceof Overtaken || (error instanceof DatabaseFailure && error.retry)) return null
    throw error
  })

// On Vitess, the endpoint cannot tell how many rows a server has read.
describe.skipIf(onVitess)(`Of a prefix of ${MATCHING} counters among ${MANY}`, () => {
  let db: TestDatabase
  let readAmongFew: Record<string, number>

  /** The rows that the server reads for each total. */
  const rowsRead = async () => {
    const read: Record<string, number> = {}
    for (const prefix of [null, APP]) {
      for (const consistency of ['exact', 'rolled'] as const) {
        const of = await totalOf(1, prefix)
        const statements = await db.recording(async () => {
          const reading = await readTotal(db, of, { consistency, period: null, ranges: db.ranges })
          const pending = prefix === null ? 2 * PENDING : PENDING
          expect(reading).toMatchObject({ complete: true, pending: consistency === 'exact' ? BigInt(pending) : null })
        })
        read[`${prefix} ${consistency}`] = statements.reduce((sum, { rowsRead }) => sum + rowsRead, 0)
      }
    }
    return read
  }

  beforeAll(async () => {
    db = await freshDatabase()
    await fill(db, APP, 0, MATCHING)
    await addHistory(db)
    await fill(db, 'site-', 0, FEW - MATCHING)
    await db.execute('ANALYZE TABLE counter_names, counter_totals, slotted_counters, type_history, prefix_history')
    await roll(db, DECLARED.slice(0, 1))
    const isolate = new TestIsolate(db)
    for (const begin of [APP, 'site-']) {
      const counters = await Promise.all(Array.from({ length: PENDING }, (_, i) => addressOf(keyOf(begin, 50 * i))))
      await isolate.count(counters.map((counter) => ({ counter, by: 1n })))
    }
    await isolate.settle()
    // The first use of a table also reads the server's dictionary.
    await rowsRead()
    readAmongFew = await rowsRead()
    await fill(db, 'site-', FEW - MATCHING, MANY - MATCHING)
    await db.execute('ANALYZE TABLE counter_names, counter_totals, slotted_counters, type_history, prefix_history')
  }, SLOW_MS)

  it(`the total is read from as many rows as among ${FEW}`, async () => {
    const read = await rowsRead()
    console.log('rows read for totals:', read)
    for (const [total, rows] of Object.entries(read)) {
      expect({ total, rows: Math.max(rows, readAmongFew[total]! + 10) }).toEqual({
        total,
        rows: readAmongFew[total]! + 10,
      })
      // What is pending, with its names, counted and summed, and the kept rows of the adjustments and a month.
      expect(rows).toBeLessThan(10 * PENDING + 100)
    }
  })

  it(
    'the total is built in bounded steps, beside writers and roll-ups, and after each interruption goes on where it was',
    async () => {
      await db.behave({ transactionMs: 1_000 })
      const pending = BigInt(PENDING)
      let withPrefix = WITH_PREFIX * BigInt(MATCHING) + pending
      let without = WITHOUT * BigInt(MANY - MATCHING) + pending
      let created = 0
      let over = false
      const write = async (random: Random) => {
        const isolate = new TestIsolate(db)
        while (!over) {
          // New keys sort before, among and after those that there are.
          const key = random.pick([
            () => keyOf(APP, random.between(0, MATCHING - 1)),
            () => keyOf('site-', random.between(0, MANY - MATCHING - 1)),
            () => `${random.pick(['ap+', APP, 'app-0005', 'apricot-'])}new-${created++}`,
          ])()
          const by = BigInt(random.between(1, 9))
          await isolate.count([{ counter: await addressOf(key), by }])
          if (key.startsWith(LATER)) withPrefix += by
          else without += by
        }
        await isolate.settle()
      }
      const until = async (step: () => Promise<unknown>) => {
        while (!over) await tolerant(step())
      }
      const random = new Random(1)
      const progress = async () => {
        const { rows } = await db.execute(
          `SELECT CAST(built_to AS CHAR) AS built_to, complete FROM prefix_builds WHERE record_type = 1 AND prefix = '${LATER}'`,
        )
        return { builtTo: String(rows[0]?.built_to ?? ''), complete: Number(rows[0]?.complete) === 1 }
      }
      let runs = 0
      const build = async () => {
        for (let now = await progress(), last = now; !now.complete; last = now) {
          expect(++runs).toBeLessThan(MOST_RUNS)
          const cut = {
            after: random.between(10, STATEMENTS),
            delivered: random.chance(0.5),
            rollback: random.chance(0.5),
          }
          const { url, ranges } = db
          const on = runs % 2 === 0 ? db : openDatabase({ url, ranges, deadlineMs: 30_000, fetch: cutFetch(cut) })
          const summary = await tolerant(roll(on, DECLARED, { maxStatements: STATEMENTS }))
          expect(summary?.statements ?? 0).toBeLessThanOrEqual(STATEMENTS)
          now = await progress()
          expect(now.builtTo >= last.builtTo).toBe(true)
        }
      }
      const statements = await db.recording(async () => {
        await db.behave({ transactionMs: 1_000, record: true })
        const running = [
          build().finally(() => {
            over = true
          }),
          write(new Random(2)),
          write(new Random(3)),
          // An isolate with an older configuration, and one that knows of the first prefix only.
          until(() => roll(db, [], { maxStatements: 200 })),
          until(() => roll(db, DECLARED.slice(0, 1), { maxStatements: 200 })),
        ]
        await Promise.allSettled(running)
        await Promise.all(running)
      })
      expect(created).toBeGreaterThan(10)
      expect(runs).toBeGreaterThan(MATCHING / COUNTERS_PER_STEP / (STATEMENTS / 6))

      const steps = statements.filter(({ sql }) => sql.includes('FROM counter_names FORCE INDEX (name)'))
      const names = steps.reduce((sum, { rowsReturned }) => sum + rowsReturned, 0)
      console.log({ runs, steps: steps.length, names, created, statements: statements.length })
      // A run that fails loses at most one step.
      expect(names).toBeLessThanOrEqual(MATCHING + created + runs * COUNTERS_PER_STEP)
      const most = (what: 'rowsRead' | 'rowsAffected') => Math.max(...statements.map((statement) => statement[what]))
      console.log('most rows of one statement:', { read: most('rowsRead'), written: most('rowsAffected') })
      // A step reads what 100 counters have: two hours, two days, weeks and months, and an adjustment. A page has 200 slots.
      expect(most('rowsRead')).toBeLessThan(40 * COUNTERS_PER_STEP)
      expect(most('rowsAffected')).toBeLessThan(10 * COUNTERS_PER_STEP)

      const sums = () => Promise.all([exactTotal(db), exactTotal(db, LATER), exactTotal(db, APP)])
      const [all, later] = await sums()
      expect([all, later]).toEqual([withPrefix + without, withPrefix])
      await roll(db, DECLARED)
      expect((await sums()).slice(0, 2)).toEqual([withPrefix + without, withPrefix])
      for (const prefix of [null, APP, LATER]) await expectSums(db, prefix)
    },
    SLOW_MS,
  )
})
