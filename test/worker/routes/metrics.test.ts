import { describe, expect, it, vi } from 'vitest'
import { version } from '../../../package.json'
import { PRUNING_CRON, ROLL_UP_CRON } from '../../../src/config/config.ts'
import { recordDeadBatches } from '../../../src/counters/background-runs.ts'
import { freshDatabase } from '../../harness/database.ts'
import { expectProblem } from '../../harness/expect-problem.ts'
import { logged } from '../../harness/logged.ts'
import { onVitess } from '../../harness/on-vitess.ts'
import { parseOpenMetrics } from '../../harness/open-metrics.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'

/** Everything that a prefix may contain and a label must escape, and what it must not. */
const STRANGE = ['a"b', 'a\\b', 'a\nb', 'a\\nb', '\\', '"}', 'a,b="c"', ' # EOF', '{é\u{1f600}\r\t', '\u202e']
const COUNTERS = {
  page_view: { record_type: 1, public: true },
  download: { record_type: 2, prefixes: ['app-', 'none-'] },
  strange: { record_type: 3, prefixes: STRANGE },
}
const { db, worker } = sharedWorker({ COUNTERS })

/** The samples of each family: the value by the labels. */
const metricsOf = async (of: TestWorker) => {
  const response = await of.api('GET', '/v1/metrics', undefined, { 'Cache-Control': 'no-cache' })
  expect(response.status).toBe(200)
  const families = parseOpenMetrics(await response.text())
  return Object.fromEntries(
    families.map(({ name, samples }) => [
      name.replace('slotted_counter_', ''),
      Object.fromEntries(samples.map(({ labels, value }) => [Object.values(labels).join(' '), value])),
    ]),
  )
}

describe('GET /v1/metrics', () => {
  it('has the totals of types and listed prefixes, the pending slots, and the seconds since a roll-up caught up', async () => {
    stopClock()
    expect(await metricsOf(worker)).toMatchObject({ type_counts: { page_view: '0' }, behind_seconds: {} })
    await worker.add('page_view', { '/a': 10, '/b': -3 })
    await worker.add('download', { 'app-1': 5, 'app-2': 6, other: 100 })
    await worker.bring([{ type: 'download', key: 'app-3', count: '9223372036854775000' }])
    await worker.cron(ROLL_UP_CRON, new Date(Date.now() - 90_000))
    // Pending counts are not in the totals yet.
    await worker.add('download', { 'app-1': 50 })
    await worker.api('PUT', '/v1/counters/page_view/%2Fa', { count: 1 })
    expect(await metricsOf(worker)).toEqual({
      type_counts: { page_view: '-2', download: '9223372036854775111', strange: '0' },
      prefix_counts: {
        'download app-': '9223372036854775011',
        'download none-': '0',
        ...Object.fromEntries(STRANGE.map((prefix) => [`strange ${prefix}`, '0'])),
      },
      healthy: { [version]: '1' },
      problems: {},
      pending_slots: { '': '1' },
      behind_seconds: { '': '90' },
      agreed_timestamp_seconds: {},
      mismatches: {},
      dead_batches: { '': '0' },
    })
    await worker.cron(ROLL_UP_CRON)
    expect(await metricsOf(worker)).toMatchObject({ pending_slots: { '': '0' }, behind_seconds: { '': '0' } })
  })

  it('is what OpenMetrics 1.0 demands, whatever a prefix contains', async () => {
    const response = await worker.api('GET', '/v1/metrics')
    const type = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
    expect([response.headers.get('Content-Type'), response.headers.get('Cache-Control')]).toEqual([type, 'no-store'])
    const families = parseOpenMetrics(await response.text())
    expect(families.map(({ name, type, unit }) => [name, type, unit])).toEqual([
      ['slotted_counter_type_counts', 'gauge', null],
      ['slotted_counter_prefix_counts', 'gauge', null],
      ['slotted_counter_healthy', 'gauge', null],
      ['slotted_counter_problems', 'gauge', null],
      ['slotted_counter_pending_slots', 'gauge', null],
      ['slotted_counter_behind_seconds', 'gauge', 'seconds'],
      ['slotted_counter_agreed_timestamp_seconds', 'gauge', 'seconds'],
      ['slotted_counter_mismatches', 'gauge', null],
      ['slotted_counter_dead_batches', 'gauge', null],
    ])
    expect(families.every(({ help }) => help !== null)).toBe(true)
    const prefixes = families[1]!.samples.filter(({ labels }) => labels.type === 'strange')
    expect(prefixes.map(({ labels }) => labels)).toEqual(STRANGE.map((prefix) => ({ type: 'strange', prefix })))
  })

  it('leaves out a prefix with which more than 10,000 keys begin, and has the others', async () => {
    const full = await freshDatabase()
    const rows = Array.from({ length: 10_001 }, (_, i) => `(2, ${i}, 'app-${i}')`)
    await full.arrange(`INSERT INTO counters (record_type, record_id, name) VALUES ${rows.join()}`)
    const { type_counts, prefix_counts } = await metricsOf(new TestWorker(full.url, { COUNTERS }))
    expect(type_counts).toMatchObject({ download: '0' })
    expect(Object.keys(prefix_counts!)).toEqual(['download none-', ...STRANGE.map((prefix) => `strange ${prefix}`)])
  })

  it('without types listing prefixes, or before the first roll-up, has families without samples', async () => {
    const empty = new TestWorker((await freshDatabase()).url, { COUNTERS: { page_view: { record_type: 1 } } })
    expect(await metricsOf(empty)).toMatchObject({
      type_counts: { page_view: '0' },
      prefix_counts: {},
      behind_seconds: {},
    })
  })

  it('has the problems of the status by code, what verification found, and the batches that died', async () => {
    const own = await freshDatabase()
    const paid = new TestWorker(own.url, { COUNTERS: { page_view: { record_type: 1 } }, PLAN: 'paid' })
    stopClock()
    await paid.add('page_view', { '/a': 3, '/b': 2 })
    await paid.cron(ROLL_UP_CRON)
    await logged(() => paid.cron(PRUNING_CRON))
    const agreed = String(Math.floor(Date.now() / 1_000))
    const agreeing = { healthy: { [version]: '1' }, mismatches: { '': '0' }, agreed_timestamp_seconds: { '': agreed } }
    expect(await metricsOf(paid)).toMatchObject(agreeing)
    await own.arrange('UPDATE counters SET count = count + 1')
    vi.setSystemTime(Date.now() + 86_400_000)
    await logged(() => paid.cron(PRUNING_CRON))
    for (let batches = 1; batches <= 2; batches++) await recordDeadBatches(own, batches)
    expect(await metricsOf(paid)).toMatchObject({
      healthy: { [version]: '0' },
      problems: { sums_disagree: '1', rollup_missing: '1' },
      mismatches: { '': '2' },
      agreed_timestamp_seconds: {},
      dead_batches: { '': '3' },
    })
  })

  it('has no numbers of what could not be read, and a problem that says so', async () => {
    const own = await freshDatabase()
    await own.behave({ faults: [{ action: 'error', errno: 1227, match: 'FROM background_runs FORCE', times: 10 }] })
    await logged(async () => {
      const found = await metricsOf(new TestWorker(own.url, { COUNTERS: { page_view: { record_type: 1 } } }))
      expect(found).toMatchObject({ problems: { status_incomplete: '1' }, mismatches: {}, dead_batches: {} })
    })
  })

  it('takes a statement for each type, two for each prefix, and those of the status', async () => {
    const statements = await db.recording(() => metricsOf(worker))
    expect(statements.length).toBe(3 + 2 * (2 + STRANGE.length) + (onVitess ? 8 : 6))
  })

  it('needs a token that may read, and no parameters', async () => {
    await expectProblem(await worker.fetch('/v1/metrics'), 401, 'unauthorized')
    await expectProblem(await worker.api('GET', '/v1/metrics?name=a'), 422, 'invalid_request')
    const head = await worker.api('HEAD', '/v1/metrics')
    expect([head.status, await head.text()]).toEqual([200, ''])
  })
})
