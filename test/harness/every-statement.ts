import { expect } from 'vitest'
import type { RecordedStatement } from '../../local/planetscale/fault-injection.ts'
import { PRUNING_CRON, ROLL_UP_CRON } from '../../src/config/config.ts'
import { recordDeadBatches } from '../../src/counters/background-runs.ts'
import { checkPending, MAX_TAKEN_SLOTS } from '../../src/counters/changes/change.ts'
import { MAX_PUBLIC_PENDING } from '../../src/counters/counters-sql.ts'
import { expireHours } from '../../src/counters/old-rows.ts'
import { readCounters, recentDays } from '../../src/counters/read/read-counters.ts'
import { leastRollUpStatements } from '../../src/counters/rollup/roll-up.ts'
import { continueRound } from '../../src/counters/verify/verify-page.ts'
import type { TestDatabase } from './database.ts'
import { sessionCookie } from './sign-in.ts'
import { TestWorker } from './worker.ts'

/**
 * The beginning of each statement that the Worker sends, and its plan on shards: which shards it reaches, and with how many
 * queries. ` … ` stands for any text. If several entries match, the longest one applies.
 *
 * List new statements here, and add requests below that send them.
 */
export const STATEMENTS: Record<string, string> = {
  'DELETE FROM counter_adjustments': 'single shard',
  'DELETE FROM counter_history WHERE record_type': 'single shard',
  'DELETE FROM counters': 'list',
  'DELETE FROM counter_periods': 'single shard',
  "SELECT 'adjustments' AS part, 0 AS slot": '3 × single shard or single shard',
  'DELETE FROM counter_history WHERE (': 'list',
  'DELETE FROM new_key_budgets': 'single shard',
  'DELETE FROM slotted_counters WHERE (record_type, record_id, slot) IN': 'list',
  'DELETE FROM visitor_salts': 'single shard',
  'DELETE FROM type_history WHERE (record_type, period, period_start, range_lane) IN': 'list',
  'INSERT IGNORE INTO change_keys': 'list',
  'SELECT contents_hash FROM change_keys': 'single shard',
  'SELECT contents_hash FROM change_keys … IN (': 'list',
  'SELECT CAST(period_start AS CHAR) AS at, count FROM counter_history': 'single shard',
  'SELECT CAST(period_start AS CHAR) AS at, count FROM counter_periods': 'single shard',
  '(SELECT record_type, record_id, slot, count FROM slotted_counters': 'list',
  'SELECT COUNT(*) AS found FROM ((SELECT 1 FROM slotted_counters': '2 × list',
  'INSERT INTO counter_adjustments … SELECT': 'list + single shard',
  'INSERT INTO counter_history … SELECT': 'list + single shard',
  'INSERT INTO counter_periods … SELECT': 'list + single shard',
  'INSERT IGNORE INTO counters': 'list',
  'INSERT INTO background_runs': 'list',
  'INSERT INTO latest_files': 'list',
  'SELECT file FROM latest_files': 'single shard',
  'INSERT IGNORE INTO visitor_salts': 'list',
  'INSERT IGNORE INTO new_key_budgets': 'list',
  'INSERT INTO counter_adjustments': 'list',
  'INSERT INTO counter_history': 'list',
  'INSERT INTO counter_periods': 'list',
  'INSERT INTO counters': 'list',
  'INSERT INTO rollup_state': 'list',
  'INSERT INTO slotted_counters … VALUES(batch)': 'list',
  'INSERT INTO slotted_counters … count + VALUES(count)': 'list',
  'INSERT INTO type_history': 'list',
  // Of no key.
  'SELECT part, id, nth, SUM(number) AS sum': 'all shards',
  'SELECT part, id, nth, SUM(number) AS sum … FROM counters': 'all shards',
  'SELECT 1 FROM counters': 'all shards',
  "SELECT CONCAT_WS(' ', 'total', … FROM type_history": 'all shards',
  "SELECT CONCAT_WS(' ', … 'all', SUM(h.count) … FROM type_history": 'all shards',
  "SELECT CONCAT_WS(' ', … 'all', SUM(h.count) … FROM type_history … h.record_id, SUM(h.count)": 'all shards',
  "SELECT CONCAT_WS(' ', … h.record_id, SUM(h.count), GROUP_CONCAT … record_id = ": 'single shard',
  "SELECT CONCAT_WS(' ', '0', h.record_id … record_id IN (": '2 × list or list',
  "SELECT CONCAT_WS(' ', 'name', record_id": '2 × list or list',
  '(SELECT 1 FROM counter_periods AS h FORCE INDEX (ranking)': '2 × list or 3 × list or 5 × list or list',
  'SELECT h.record_id, h.bucket, SUM(h.count) AS count FROM counter_periods': 'all shards',
  'SELECT n.name, n.record_id, n.bucket, SUM(h.count)': 'all shards',
  'SELECT h.name, h.record_id, h.bucket, SUM(h.count)': 'all shards',
  'SELECT h.record_id, h.bucket, SUM(h.count) AS count FROM (': 'all shards',
  'SELECT h.record_id, h.count': 'all shards',
  'SELECT record_id, name, count FROM counters FORCE INDEX (ranking)': 'all shards',
  'SELECT record_id, name, count FROM counters FORCE INDEX (name)': 'all shards',
  'SELECT COUNT(*) AS found FROM (SELECT 1 FROM counters': 'all shards',
  'SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM slotted_counters … AS oldest': '2 × all shards',
  'SELECT record_id FROM counters … ORDER BY record_id': 'all shards',
  'SELECT MAX(record_id) AS last, COUNT(*) AS found': '3 × all shards',
  'SELECT record_type, record_id, count … FOR UPDATE NOWAIT': 'list',
  'SELECT record_type, record_id, 1 FROM counters': 'list',
  'SELECT 1 FROM slotted_counters': 'all shards',
  'SELECT HEX(salt) AS salt FROM visitor_salts': 'single shard',
  'SELECT MAX(period_start) AS last, COUNT(*) AS found': 'all shards',
  'SELECT MIN(period_start) AS oldest FROM counter_history': 'all shards',
  'SELECT MIN(record_type) AS record_type FROM (SELECT MIN(record_type)': '5 × all shards',
  "SELECT CONCAT_WS(' ', d.count IS NOT NULL, REPLACE(h.period_start, ' ', 'T'), h.record_type, h.record_id) … ORDER BY":
    'all shards',
  "SELECT CONCAT_WS(' ', d.count IS NOT NULL, REPLACE(h.period_start, ' ', 'T'), h.record_type, h.record_id) … h.record_id > … ORDER BY":
    'all shards',
  "SELECT CONCAT_WS(' ', d.count IS NOT NULL, h.record_type, REPLACE(h.period_start, ' ', 'T'), h.range_lane) … ORDER BY":
    'all shards',
  "SELECT CONCAT_WS(' ', d.count IS NOT NULL, h.record_type, REPLACE(h.period_start, ' ', 'T'), h.range_lane) … h.range_lane > … ORDER BY":
    'all shards',
  'SELECT holder, cursor_record_type': 'list',
  '(SELECT 0 AS nth, CAST(period_start AS CHAR) AS day': '2 × single shard',
  '(SELECT record_id FROM counters … UNION ALL (SELECT record_id FROM counter_periods … UNION ALL (SELECT record_id FROM slotted_counters':
    '3 × all shards',
  '(SELECT record_id FROM counters … UNION ALL (SELECT record_id FROM slotted_counters': '2 × all shards',
  "SELECT record_id, 'total' AS part, NULL AS day, count": 'all shards',
  "SELECT record_id, 'total' AS part, NULL AS day, count … UNION ALL SELECT record_id, 'day'": 'all shards',
  'SELECT record_id, name FROM counters … AND name > x … ORDER BY': 'all shards',
  'SELECT record_id, name FROM counters … ORDER BY': 'all shards',
  'SELECT record_type, record_id, bucket, what, start, SUM(recorded)': 'all shards',
  'SELECT record_type, record_id, bucket, what, start, SUM(recorded) … AND record_id = ': 'single shard',
  "SELECT CONCAT_WS(',', CONCAT(record_type, '/', record_id), count": '2 × list or list',
  "SELECT CONCAT_WS(',', CONCAT(record_type, '/', record_id), (SELECT": '2 × list',
  'SELECT COALESCE((SELECT CONCAT_WS': 'single shard',
  'SELECT record_type, record_id, gone_hour IS NOT NULL AS gone FROM counters': 'list',
  'SELECT record_type, record_id, name FROM counters': 'list',
  'SELECT record_type, record_id FROM counters FORCE INDEX (gone)': 'all shards',
  'UPDATE counters SET gone_hour = NULL': 'list',
  "SELECT CONCAT_WS(' ', s.record_type, s.record_id, s.slot, s.count, … AS packed … ORDER BY": 'list',
  "SELECT CONCAT_WS(' ', s.record_type, s.record_id, s.slot, s.count, … AS packed … s.slot > … ORDER BY": 'list',
  'SELECT taken, MOD(UNIX_TIMESTAMP(), 60) AS elapsed FROM new_key_budgets': 'single shard',
  'SELECT record_type, what, start, SUM(recorded)': 'all shards',
  "SELECT CONCAT_WS(' ', 1, kept_until, record_type … ORDER BY": 'all shards',
  "SELECT CONCAT_WS(' ', 1, kept_until, record_type … slot > … ORDER BY": 'all shards',
  'SELECT position, round_begun_at FROM background_runs': 'single shard',
  "SELECT CONCAT_WS(' ', version, made_at) AS recorded": 'all shards',
  'SELECT task, finished_at, stopped_by, agreed_at, found, dead_batches, position FROM background_runs': 'single shard',
  'SHOW VARIABLES WHERE Variable_name IN': 'none',
  'UPDATE background_runs': 'single shard',
  'UPDATE new_key_budgets': 'single shard',
  'UPDATE rollup_state': 'single shard',
}

/**
 * The statement of the list that a recorded one is: of those that match, the one that says most. If none does, the recorded
 * one, with `?` for its values.
 */
export function statementOf(sql: string): string {
  const text = sql.replace(/\/\*.*?\*\/ ?/g, '').replace(/\s+/g, ' ')
  const matching = Object.keys(STATEMENTS).filter((statement) => {
    const [begin, ...rest] = statement.split(' … ')
    return text.startsWith(begin!) && rest.every((part) => text.includes(part))
  })
  const [most] = matching.sort((a, b) => b.length - a.length)
  return most ?? text.replace(/'[^']*'|\b\d+\b/g, '?').replace(/(\?, ?)+\?/g, '?')
}

/** The types of the counters below. */
const COUNTERS = {
  page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
  download: { record_type: 2, redirect_to: '/files/' },
  release: { record_type: 4, prefixes: ['app-'] },
  few: { record_type: 8, allowed_origins: ['*'], new_keys_per_minute: 1 },
  // Filled below, so that their plans are those of large types.
  article: { record_type: 11, also: 'reader' },
  reader: { record_type: 9, dedupe_seconds: 60 },
  visit: { record_type: 3, allowed_origins: ['*'], dedupe_seconds: 60 },
}

/** Makes a Worker send every statement to a filled database, and records them. */
export async function sendEveryStatement(db: TestDatabase): Promise<RecordedStatement[]> {
  const worker = new TestWorker(db.url, { COUNTERS }).withBudgets({
    rollUp: { pageSlots: 20 },
    pruning: { pageSlots: 100 },
    history: { pageHours: 100, maxStatements: 40 },
  })
  const keys = Array.from({ length: 50 }, (_, i) => `/page/${i}`)
  return db.recording(async () => {
    await worker.hit('page_view', '/a')
    await worker.hit('visit', '/a', { 'CF-Connecting-IP': '203.0.113.7' })
    // The second or the third one finds the budget of its minute used up.
    for (const key of ['/a', '/b', '/c']) await worker.hit('few', key)
    await worker.api('POST', '/v1/counters/download/a%2Fb?return=count', { by: 2 })
    await worker.api('POST', '/v1/increments', { increments: keys.map((key) => ({ type: 'page_view', key })) })
    await worker.fetch('/v1/counters/page_view/%2Fa')
    await worker.fetch('/v1/counters/page_view/%2Fa?consistency=rolled')
    await worker.fetch(`/v1/counters/page_view?${keys.map((key) => `key=${key}`).join('&')}`)
    await worker.fetch('/healthz')
    await worker.api('GET', '/v1/status')
    await worker.fetch('/badge/page_view/%2Fa.svg')
    await worker.fetch('/badge/page_view/%2Fa.svg?period=day')
    // A run that does not finish, and counts what is left.
    const least = { pageSlots: 1, maxStatements: leastRollUpStatements(db.ranges) }
    await new TestWorker(db.url).withBudgets({ rollUp: least }).cron(ROLL_UP_CRON)
    await worker.cron(ROLL_UP_CRON)
    await worker.fetch('/badge/page_view/%2Fa.json?period=month')
    await worker.api('POST', '/v1/rollup')
    for (const query of [
      '',
      '?by=hour',
      '?by=week&tz=Europe/Berlin',
      '?by=month',
      '?tz=Europe/Berlin',
      '?from=2026-01-01&to=2026-01-02',
    ]) {
      await worker.fetch(`/v1/counters/page_view/%2Fa/history${query}`)
      await worker.fetch(`/v1/types/page_view/history${query}`)
    }
    for (const query of ['', '?period=day', '?period=month&date=2026-01-01', '?period=day&date=2026-01-01&limit=100']) {
      await worker.fetch(`/v1/top/page_view${query}`)
      await worker.fetch('/v1/compare/page_view?key=/a&key=/b')
    }
    for (const query of ['', '?prefix=key-59', '?prefix=key-59&after=key-599&limit=100']) {
      await worker.api('GET', `/v1/search/page_view${query}`)
    }
    await worker.api('PUT', '/v1/counters/page_view/%2Fa', { count: 5 })
    const key = { 'Idempotency-Key': 'twice' }
    for (let i = 0; i < 2; i++) await worker.api('PUT', '/v1/counters/page_view/%2Fa', { count: 6 }, key)
    const readings = [...keys, '/a'].map((key) => ({ type: 'page_view', key, count: 1_000 }))
    expect((await worker.api('POST', '/v1/readings', { readings })).status).toBe(200)
    expect((await worker.api('PUT', '/v1/latest/download/latest', { file: 'a.zip' })).status).toBe(200)
    await moves(worker, ['page_view'], 60)
    await moves(worker, ['article', 'reader'], 20)
    const imported = keys.map((key, i) => ({ type: 'page_view', key, count: 1, ...(i % 2 && { day: '2026-11-01' }) }))
    await worker.api('POST', '/v1/imports', { counters: imported }, { 'Idempotency-Key': 'explain' })
    // With several ranges, an import looks first whether it was made when there were fewer.
    const ranged = new TestWorker(db.url, { COUNTERS, SHARDING: { ranges: Math.max(2, db.ranges) } })
    await ranged.api('POST', '/v1/imports', { counters: imported }, { 'Idempotency-Key': 'ranges' })
    // The page to begin with and a feed rank what rose and fell.
    const Cookie = await sessionCookie(worker)
    expect(await (await worker.fetch('/?tz=Europe/Berlin', { headers: { Cookie } })).text()).toContain('id="as-of"')
    expect((await worker.api('GET', '/stats/page_view.atom')).status).toBe(200)
    await sendTotals(worker)
    await openPages(worker)
    await worker.api('GET', '/v1/export/page_view?limit=20')
    await worker.api('GET', '/v1/export/page_view?limit=20&by=day&after=100')
    await worker.cron(PRUNING_CRON)
    // Types expire after counters, whose hours are younger here.
    const types = Object.values(COUNTERS).map(({ record_type }) => record_type)
    await expireHours(db, {
      at: new Date('2026-04-01'),
      hourDays: 90,
      pageHours: 100,
      maxStatements: 100_000,
      recordTypes: types,
    })
    // One that has no statement for a page, and one that finds what is wrong in the filled tables.
    for (const maxStatements of [4, 20]) {
      await continueRound(db, { at: new Date(), hourDays: 90, limit: 2, maxStatements })
    }
    await recordDeadBatches(db, 1)
    for (const dryRun of [true, false]) {
      const answer = await worker.api('POST', '/v1/counters/page_view/%2Fa/repair', { dryRun, days: ['2026-01-01'] })
      expect(answer.status).toBe(200)
    }
    // What badges of a period that are asked for at the same time share.
    const badges = [1n, 2n ** 63n].map((recordId) => ({ recordType: 1, recordId, name: '' }))
    await readCounters(db, badges, MAX_PUBLIC_PENDING, recentDays('day', new Date()))
    // What a change does that meets too many pending slots.
    const flooded = [1n, 2n ** 63n].map((recordId) => ({ recordType: 2, recordId }))
    const refused = checkPending(db, flooded, MAX_TAKEN_SLOTS + 1)
    await expect(refused).rejects.toThrow('too_many_pending')
    for (const after of ['counters.1.0', 'days.1.']) {
      expect((await worker.api('POST', `/v1/verify?limit=2&after=${after}`)).status).toBe(200)
    }
  })
}

/** Reads the sums and the history of a type and of a prefix. */
async function sendTotals(worker: TestWorker): Promise<void> {
  const increments = Array.from({ length: 20 }, (_, i) => ({ type: 'release', key: `app-${i}` }))
  await worker.api('POST', '/v1/increments', { increments })
  await worker.cron(ROLL_UP_CRON)
  await worker.api('POST', '/v1/increments', { increments: increments.slice(0, 5) })
  for (const query of ['', '?consistency=rolled', '?prefix=app-', '?prefix=app-&consistency=rolled']) {
    expect((await worker.api('GET', `/v1/types/release${query}`)).status).toBe(200)
  }
  for (const query of ['', '&by=hour', '&by=week', '&by=month', '&tz=Europe/Berlin']) {
    expect((await worker.api('GET', `/v1/types/release/history?prefix=app-${query}`)).status).toBe(200)
  }
  for (const query of ['', '&period=week', '&from=2026-01-01&to=2026-02-02']) {
    expect((await worker.api('GET', `/v1/top/release?prefix=app-&limit=100${query}`)).status).toBe(200)
  }
}

/** Opens the dashboard's pages. One with a problem has no table. */
async function openPages(worker: TestWorker): Promise<void> {
  const headers = { Cookie: await sessionCookie(worker) }
  // Two days have two parts in UTC. Elsewhere they have hours of a third one.
  const days = 'from=2026-10-31&to=2026-11-01'
  const paths = ['', `&${days}`, `&${days}&tz=America/New_York`, `&${days}&find=key-5999`].map(
    (query) => `/?type=page_view${query || '&period=12m'}`,
  )
  for (const find of ['app-', 'pp-1', 'found nowhere']) {
    for (const query of ['', '&period=today', '&period=12m', '&tz=Europe/Berlin']) {
      paths.push(`/?type=release&find=${find}${query}`)
    }
  }
  for (const find of ['', 'app-']) {
    const page = await worker.fetch(`/?type=release&show=keys&find=${find}`, { headers })
    expect(await page.text()).toContain('class="keys"')
  }
  for (const path of [...paths, `/counter?type=page_view&key=/a&${days}`]) {
    expect(await (await worker.fetch(path, { headers })).text(), path).toContain('id="table"')
  }
}

/** Deletes, renames and merges counters that have everything. @param types the type, and those that it names in `also` */
async function moves(worker: TestWorker, types: readonly string[], days: number): Promise<void> {
  const [type] = types
  const also = types.length > 1
  const fill = async (key: string, days: string[]) => {
    const increments = types.map((type) => ({ type, key, by: 2 }))
    await worker.api('POST', '/v1/increments', { increments })
    await worker.api('PUT', `/v1/counters/${type}/${key}`, { count: 9 })
    await worker.api('POST', '/v1/rollup')
    await worker.api('POST', '/v1/increments', { increments })
    const counters = days.flatMap((day) => types.map((type) => ({ type, key, count: 2, day })))
    await worker.api('POST', '/v1/imports', { counters }, { 'Idempotency-Key': `fill ${type} ${key}` })
  }
  const send = async (method: string, path: string, body?: unknown, headers = {}) => {
    expect((await worker.api(method, `/v1/counters/${type}/${path}`, body, headers)).status).toBe(200)
  }
  const dates = Array.from({ length: days }, (_, i) => new Date(Date.UTC(2026, 0, 1 + i)).toISOString().slice(0, 10))
  for (const key of ['deleted', 'renamed', 'merged']) await fill(key, dates)
  await send('DELETE', `deleted?also=${also}`)
  // Takes the mark off the name.
  await send('PUT', 'deleted', { count: 1 })
  await send('POST', `renamed/rename?also=${also}`, { to: 'moved-1' }, { 'Idempotency-Key': 'rename' })
  await send('POST', `merged/merge?also=${also}`, { into: 'moved-1' })
  await send('DELETE', 'moved-1?below=1000')
}

/**
 * Writes what makes the Worker's statements find something, and pass by something. All of it is in the first range.
 *
 * @param idle how many counters have totals, names, a history and empty slots, and nothing to roll up
 */
export async function fillTables(db: TestDatabase, { idle }: { idle: number }): Promise<void> {
  const insert = async (table: string, columns: string, count: number, row: (i: number) => string) => {
    for (let begin = 0; begin < count; begin += 20_000) {
      const rows = Array.from({ length: Math.min(20_000, count - begin) }, (_, i) => `(${row(begin + i)})`)
      await db.arrange(`INSERT INTO ${table} (${columns}) VALUES ${rows.join()}`)
    }
  }
  const slots = 'record_type, record_id, slot, count, batch, kept_until'
  const hour = Math.floor(Date.now() / 3_600_000)
  await insert('slotted_counters', slots, idle, (i) => `1, ${i}, 7, 0, 1, ${hour}`)
  await insert('slotted_counters', slots, 150, (i) => `2, ${i}, 7, 0, 1, 1`)
  const columns = 'record_type, record_id, name, gone_hour, count, version'
  await insert('counters', columns, idle - 10, (i) => `1, ${i}, 'key-${i}', NULL, 5, 1`)
  // Marked long ago. The first ones count after all.
  await insert('counters', columns, 20, (i) => `1, ${idle - 10 + i}, 'gone-${i}', 1, ${i < 10 ? 5 : 0}, 1`)
  await insert('counters', columns, 150, (i) => `2, ${i}, 'file-${i}', NULL, 0, 1`)
  await insert(
    'counter_history',
    'record_type, record_id, period_start, count',
    idle,
    (i) => `1, ${i}, '2026-01-01', 5`,
  )
  const adjustments = 'record_type, record_id, adjustment_id, kind, adjusted_at, count'
  await insert('counter_adjustments', adjustments, idle, (i) => `1, ${i}, 7, 1, '2026-01-01', 0`)
  for (const type of [1, 9, 11]) {
    if (type > 1) await insert('counters', columns, idle, (i) => `${type}, ${i}, 'key-${i}', NULL, 5, 1`)
    const periods = 'record_type, record_id, period, period_start, count'
    await insert('counter_periods', periods, idle, (i) => `${type}, ${i}, 1, '2026-01-01', 5`)
  }
  for (const [period, unit, first, count] of [
    // Later than any request asks for.
    [0, 'HOUR', '2127-01-01', 5_000],
    [0, 'HOUR', '2025-12-20', 240],
    [1, 'DAY', '2025-12-20', 10],
  ] as const) {
    const ofTypes = 'record_type, period, period_start, range_lane, count'
    await insert('type_history', ofTypes, count, (i) => `1, ${period}, '${first}' + INTERVAL ${i} ${unit}, 0, 1`)
  }
}
