import { env as configured } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { version } from '../../../package.json'
import { PRUNING_CRON, ROLL_UP_CRON } from '../../../src/config/config.ts'
import type { Bindings } from '../../../src/config/read-settings.ts'
import { leastRollUpStatements } from '../../../src/counters/rollup/roll-up.ts'
import { freshDatabase, type TestDatabase } from '../../harness/database.ts'
import { TestQueue } from '../../harness/local-queues.ts'
import { logged } from '../../harness/logged.ts'
import { nameAll } from '../../harness/moves.ts'
import { onVitess } from '../../harness/on-vitess.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { TestWorker } from '../../harness/worker.ts'

interface Status {
  healthy: boolean
  problems: { code: string; detail: string }[]
  [field: string]: unknown
}

let db: TestDatabase
let worker: TestWorker
beforeEach(async () => {
  db = await freshDatabase()
  worker = new TestWorker(db.url)
})

const status = async (of = worker) => {
  const response = await of.api('GET', '/v1/status')
  expect([response.status, response.headers.get('Cache-Control')]).toEqual([200, 'no-store'])
  return (await response.json()) as Status
}
const codes = async (of?: TestWorker) => (await status(of)).problems.map(({ code }) => code)
/** Stores slots, each as the values of a row. */
const storeSlots = async (rows: string[]) => {
  await db.insert('slotted_counters', rows)
  await nameAll(db)
}
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

describe('GET /v1/status', () => {
  it('says that the shipped origin is still allowed, in which setting, and what to put there', async () => {
    const { COUNTERS, SITES } = configured as Bindings
    const shipped = new TestWorker(db.url, { COUNTERS, SITES })
    await shipped.cron(ROLL_UP_CRON)
    const { healthy, problems } = await status(shipped)
    expect(healthy).toBe(false)
    const detail = expect.stringMatching(/^SITES still has https:\/\/example\.com, /)
    expect(problems).toEqual([{ code: 'example_origin', detail }])
    const one = new TestWorker(db.url, {
      COUNTERS: { visit: { record_type: 1, allowed_origins: ['https://example.com'] }, issue: { record_type: 2 } },
    })
    expect((await status(one)).problems).toEqual([
      { code: 'example_origin', detail: expect.stringMatching(/^COUNTERS\.visit\.allowed_origins still has /) },
    ])
  })

  it('names bindings that are missing', async () => {
    const bindings = { ASSETS: undefined, READERS_LIMIT: { limit: async () => ({ success: true }) } }
    const bare = new TestWorker(db.url, { ...bindings, DEAD_BATCHES: TestQueue.dead.binding })
    await logged(async () => {
      await bare.cron(ROLL_UP_CRON)
      expect((await status(bare)).problems.map(({ code, detail }) => `${code}: ${detail}`)).toEqual([
        expect.stringMatching(/^wrong_setting: BATCHES is missing: bind it in wrangler\.toml\./),
        expect.stringMatching(/^wrong_setting: READERS_LIMIT is not known here, and READER_LIMIT is not bound\./),
        expect.stringMatching(/^wrong_setting: ASSETS is not bound, .* Restore \[assets\] in wrangler\.toml/),
      ])
    })
  })

  it('has the pending slots, how far behind the roll-up is, and what commands need to know of types, in few statements', async () => {
    stopClock()
    await worker.api('POST', '/v1/counters/page_view/a')
    const none = {
      version,
      healthy: true,
      problems: [],
      behindSeconds: null,
      verification: { agreedAt: null, mismatches: null },
      deadBatches: 0,
      types: [
        { name: 'page_view', recordType: 1, sameKey: [] },
        { name: 'download', recordType: 2, sameKey: [] },
      ],
    }
    expect(await status()).toEqual({ ...none, pendingSlots: 1 })
    await worker.api('POST', '/v1/rollup')
    expect(await status()).toEqual({ ...none, pendingSlots: 0, behindSeconds: 0 })
    vi.setSystemTime(Date.now() + 30_000)
    const statements = await db.recording(async () => expect(await status()).toMatchObject({ behindSeconds: 30 }))
    // On Vitess, two more count the shards.
    expect(statements.length).toBeLessThanOrEqual(onVitess ? 8 : 6)
  })

  it('reports that no roll-up has run from three minutes after the tables were made, not before', async () => {
    stopClock()
    await db.arrange(`UPDATE schema_version SET made_at = '2026-01-02 03:04:05'`)
    const since = async (seconds: number) => {
      vi.setSystemTime(Date.parse('2026-01-02T03:04:05Z') + seconds * 1_000)
      return codes()
    }
    expect(await since(0)).toEqual([])
    expect(await since(179)).toEqual([])
    expect(await status()).toMatchObject({ healthy: true, behindSeconds: null })
    expect(await since(180)).toEqual(['rollup_missing'])
    // What the owner has to do is told at once.
    const shipped = new TestWorker(db.url, {
      COUNTERS: { page_view: { record_type: 1 } },
      SITES: (configured as Bindings).SITES,
    })
    await since(0)
    expect(await codes(shipped)).toEqual(['example_origin'])
  })

  it('gives no grace period to tables without a recorded time', async () => {
    await db.arrange('DELETE FROM schema_version')
    expect(await codes()).toEqual(['database_not_ready', 'rollup_missing'])
    await db.arrange('DROP TABLE schema_version')
    expect((await codes()).toSorted()).toEqual(['database_not_ready', 'rollup_missing'])
  })

  it('after a first roll-up applies the usual limit, however new the tables are', async () => {
    stopClock()
    await worker.cron(ROLL_UP_CRON, minutesAgo(6))
    await db.arrange('UPDATE schema_version SET made_at = UTC_TIMESTAMP()')
    expect(await codes()).toEqual(['rollup_missing'])
  })

  it('reports rollup_behind if roll-ups run but do not catch up', async () => {
    stopClock()
    const least = { pageSlots: 1, maxStatements: leastRollUpStatements(db.ranges) }
    const slow = new TestWorker(db.url).withBudgets({ rollUp: least })
    await worker.cron(ROLL_UP_CRON, minutesAgo(10))
    await worker.add('page_view', Object.fromEntries(Array.from({ length: 30 }, (_, i) => [i, 1])))
    await slow.cron(ROLL_UP_CRON)
    const behind = (advice: string) => [{ code: 'rollup_behind', detail: expect.stringContaining(advice) }]
    const free = new TestWorker(db.url, { PLAN: 'free' })
    expect((await status(free)).problems).toEqual(behind('of statements before they are done. Set PLAN = "paid".'))
    const paid = new TestWorker(db.url, { PLAN: 'paid' })
    expect((await status(paid)).problems).toEqual(behind('of statements before they are done. See docs/scale.md'))
    // On the free plan, a run has one page: the first moves the rest, the second looks for what is new before it.
    for (let minute = 0; minute < 2; minute++) await worker.cron(ROLL_UP_CRON)
    expect(await codes(slow)).toEqual([])
  })

  it.each([
    ['rollup_behind', 3],
    ['rollup_missing', 10],
  ])('says of %s if a run did not release its lease', async (code, minutes) => {
    await worker.cron(ROLL_UP_CRON, minutesAgo(10))
    await db.arrange(
      `UPDATE rollup_state SET holder = 7, leased_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND,
         last_run_at = UTC_TIMESTAMP(3) - INTERVAL ${minutes} MINUTE`,
    )
    expect((await status(worker)).problems).toEqual([
      { code, detail: expect.stringContaining('A run was interrupted') },
    ])
  })

  it('says of rollup_behind if runs have too few seconds', async () => {
    await worker.cron(ROLL_UP_CRON, minutesAgo(10))
    await worker.api('POST', '/v1/counters/page_view/a')
    const short = new TestWorker(db.url).withBudgets({ rollUp: { maxSeconds: 1 } })
    await db.behave({ latencyMs: 600 })
    await short.cron(ROLL_UP_CRON)
    await db.behave()
    expect((await status(short)).problems).toEqual([
      { code: 'rollup_behind', detail: expect.stringContaining('budget of seconds') },
    ])
  })

  it('reports counters_stuck if a total would leave 64 bits', async () => {
    const caughtUpAt = minutesAgo(10)
    await worker.cron(ROLL_UP_CRON, caughtUpAt)
    await worker.api('POST', '/v1/counters/page_view/a')
    await db.arrange('UPDATE counters SET count = 9223372036854775807')
    const lines = await logged(() => worker.cron(ROLL_UP_CRON, new Date(caughtUpAt.getTime() + 600_000)))
    expect(lines).toMatchObject([{ event: 'rollup', stuck: 1, left: 1, behindSeconds: 600 }])
    expect(await codes()).toEqual(['counters_stuck'])
  })

  it('counts pending slots no further than 10,000', async () => {
    await worker.cron(ROLL_UP_CRON)
    await storeSlots(Array.from({ length: 12_000 }, (_, i) => `(1,${i},7,1,1,FLOOR(UNIX_TIMESTAMP()/3600))`))
    expect(await status()).toMatchObject({ healthy: true, pendingSlots: 10_000 })
  })

  it('reports pruning_behind if slots are overdue', async () => {
    stopClock()
    await worker.cron(ROLL_UP_CRON)
    const rows = Array.from({ length: 11_000 }, (_, i) => `(1,${i},7,0,1,FLOOR(UNIX_TIMESTAMP()/3600)-2)`)
    await storeSlots(rows)
    expect(await status()).toMatchObject({ healthy: true })
    await db.arrange('UPDATE slotted_counters SET kept_until = kept_until - 2 LIMIT 1')
    const few = new TestWorker(db.url, { PLAN: 'paid' }).withBudgets({
      pruning: { pageSlots: 1, maxStatements: 1 + db.ranges },
      history: { maxStatements: 4 },
    })
    const detail = async () => {
      const { problems } = await status(few)
      expect(problems.map(({ code }) => code)).toEqual(['pruning_behind'])
      return problems[0]!.detail
    }
    expect(await detail()).toMatch(/^Some slots should have been pruned [45] hours ago\. No run has finished yet\./)
    await db.arrange('UPDATE slotted_counters SET kept_until = kept_until - 2')
    await logged(() => few.cron(PRUNING_CRON))
    expect(await detail()).toContain('budget of statements')
    await db.arrange('UPDATE background_runs SET finished_at = CAST(? AS DATETIME(3))', [minutesAgo(11)])
    expect(await detail()).toContain('No run has finished for 660 s.')
    await db.arrange('DELETE FROM slotted_counters WHERE record_id > 10')
    await db.arrange('UPDATE slotted_counters SET count = 1')
    await logged(() => worker.cron(PRUNING_CRON))
    expect(await detail()).toContain('the roll-up must move their counts first')
    await db.arrange('UPDATE slotted_counters SET count = 0')
    await logged(() => worker.cron(PRUNING_CRON))
    expect(await codes(few)).toEqual([])
  })

  // vttablet serves no such server.
  it.skipIf(onVitess)('reports not_strict if the server changes what does not fit instead of refusing it', async () => {
    await worker.cron(ROLL_UP_CRON)
    await db.behave({ sqlMode: 'NO_ENGINE_SUBSTITUTION' })
    expect(await codes()).toEqual(['not_strict'])
    await db.behave({ sqlMode: 'STRICT_ALL_TABLES' })
    expect(await codes()).toEqual([])
  })

  it('does not report slots that a roll-up made again after they were pruned', async () => {
    await worker.cron(ROLL_UP_CRON)
    await storeSlots(['(1, 1, 7, 0, 0, 0)'])
    expect(await codes()).toEqual([])
  })

  it('reports history_behind if hours are overdue by more than a day, and why', async () => {
    stopClock()
    await worker.cron(ROLL_UP_CRON)
    const hoursOf = async (days: number) => {
      const hour = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
      const rows = Array.from({ length: 30 }, (_, i) => `(1, ${i}, '${hour} 00:00:00', 1)`)
      await db.arrange(
        `INSERT INTO counter_history (record_type, record_id, period_start, count) VALUES ${rows.join(',')}`,
      )
    }
    await hoursOf(91)
    expect(await codes()).toEqual([])
    await hoursOf(92)
    await db.arrange(
      `INSERT INTO counter_periods (record_type, record_id, period, period_start, count)
       SELECT record_type, record_id, 1, DATE(period_start), 1 FROM counter_history`,
    )
    const least = 2 + 2 * db.ranges
    const few = new TestWorker(db.url, { PLAN: 'paid' }).withBudgets({
      history: { pageHours: 1, maxStatements: least },
    })
    const detail = async (of = few) => {
      const { problems } = await status(of)
      // The hours that this test made belong to no day and no total.
      const [behind, ...others] = problems.filter(({ code }) => code !== 'sums_disagree')
      expect([behind?.code, others]).toEqual(['history_behind', []])
      return behind!.detail
    }
    expect(await detail()).toContain('deleted 2 days ago. No run has finished yet.')
    await logged(() => few.cron(PRUNING_CRON))
    expect(await detail()).toContain('budget of statements')
    await db.arrange('DELETE FROM counter_periods WHERE record_id > 20')
    await logged(() => worker.cron(PRUNING_CRON))
    expect(await detail()).toContain('npm run verify')
    await db.arrange('DELETE FROM counter_history')
    expect(await codes()).not.toContain('history_behind')
  })

  it('names the parts that the server refuses as a problem, has the others, and logs why', async () => {
    await worker.cron(ROLL_UP_CRON)
    const refused = { action: 'error', errno: 1227, times: 10 } as const
    const matches = ['SHOW VARIABLES', 'MIN\\(period_start']
    await db.behave({ faults: matches.map((match) => ({ ...refused, match })) })
    const lines = await logged(async () => {
      const detail = expect.stringMatching(/^These parts could not be read: (history, server|server, history)\./)
      const problems = [{ code: 'status_incomplete', detail }]
      expect(await status()).toMatchObject({ healthy: false, problems, pendingSlots: 0, deadBatches: 0 })
    })
    expect(lines.map(({ event, part }) => [event, part]).sort()).toEqual([
      ['status_incomplete', 'history'],
      ['status_incomplete', 'server'],
    ])
  })

  it('names slow parts without taking the database for unavailable', async () => {
    await worker.cron(ROLL_UP_CRON)
    await db.behave({ faults: [{ action: 'hang-request', match: 'SHOW|MIN\\(', times: 100 }] })
    await logged(async () => expect(await codes()).toEqual(['status_incomplete']))
    expect((await worker.hit('page_view', '/a', { 'User-Agent': 'Mozilla/5.0 Firefox/145' })).status).toBe(204)
  })

  it('has what the daily verification found, with the keys of the counters, until a later round agrees', async () => {
    stopClock()
    const paid = new TestWorker(db.url, { PLAN: 'paid' })
    await worker.add('page_view', { '/a': 3 })
    await worker.add('download', { 'app\u202e\u001b[2J.zip': 2 })
    await worker.cron(ROLL_UP_CRON)
    const verify = () => logged(() => paid.cron(PRUNING_CRON))
    await verify()
    const agreedAt = expect.stringMatching(new RegExp(`^${new Date().toISOString().slice(0, 19)}`))
    expect(await status()).toMatchObject({ healthy: true, verification: { agreedAt, mismatches: 0 } })
    await db.arrange('UPDATE counters SET count = count + 1')
    vi.setSystemTime(Date.now() + 86_400_000)
    await worker.cron(ROLL_UP_CRON)
    await verify()
    const { problems, verification } = await status()
    expect(verification).toEqual({ agreedAt: null, mismatches: 1 })
    expect(problems).toEqual([
      { code: 'sums_disagree', detail: expect.stringContaining('total of page_view /a: 4 instead of 3') },
    ])
    // The first type alone, until it agrees.
    await db.arrange('UPDATE counters SET count = count - 1 WHERE record_type = 1')
    vi.setSystemTime(Date.now() + 86_400_000)
    await worker.cron(ROLL_UP_CRON)
    await verify()
    expect((await status()).problems[0]!.detail).toContain(
      'total of download app\\u{202E}\\u{1B}[2J.zip: 3 instead of 2',
    )
    await db.arrange('UPDATE counters SET count = count - 1 WHERE record_type = 2')
    vi.setSystemTime(Date.now() + 86_400_000)
    await worker.cron(ROLL_UP_CRON)
    await verify()
    expect(await status()).toMatchObject({ healthy: true, verification: { mismatches: 0 } })
  })
})
