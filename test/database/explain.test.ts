import { beforeAll, describe, expect, it } from 'vitest'
import type { RecordedStatement } from '../../local/planetscale/behaviour.ts'
import { PRUNING_CRON, ROLL_UP_CRON } from '../../src/maintenance.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { TestWorker } from '../harness/worker.ts'

/** Every statement the Worker sends, by how it begins; a new one must be added here, and reached below. */
const STATEMENTS = [
  'BEGIN',
  'COMMIT',
  'DELETE h FROM counter_history AS h FORCE INDEX (PRIMARY) WHERE (record_type, record_id, period_start) IN',
  'DELETE FROM slotted_counters WHERE (record_type, record_id, slot) IN',
  'DELETE FROM type_history WHERE (record_type, period, period_start) IN',
  'INSERT IGNORE INTO counter_names',
  'INSERT IGNORE INTO counter_totals',
  'INSERT INTO counter_adjustments',
  'INSERT INTO counter_history',
  'INSERT INTO counter_periods',
  'INSERT INTO counter_totals',
  'INSERT INTO rollup_state',
  'INSERT INTO slotted_counters … VALUES(batch)',
  'INSERT INTO slotted_counters … count + VALUES(count)',
  'INSERT INTO type_history',
  "SELECT 'day' AS part … FROM counter_periods",
  "SELECT 'day' AS part … UNION ALL SELECT 'hour' AS part … FROM counter_history",
  "SELECT 'day' AS part … FROM type_history",
  "SELECT 'day' AS part … UNION ALL SELECT 'hour' AS part … FROM type_history",
  "SELECT 'month' AS part … FROM counter_periods",
  "SELECT 'month' AS part … FROM type_history",
  'SELECT 1 FROM counter_totals … FOR UPDATE NOWAIT',
  'SELECT COUNT(*) AS pending FROM (SELECT 1 FROM slotted_counters',
  "SELECT 'day' AS what, start, SUM(recorded)",
  '(SELECT 0 AS part, record_id',
  'SELECT COALESCE(MAX(count), 0) AS total',
  'SELECT DISTINCT record_type FROM type_history',
  'SELECT MAX(period_start) AS last … FROM counter_history',
  'SELECT MAX(period_start) AS last … FROM counter_periods',
  'SELECT MIN(next) AS next',
  'SELECT MIN(period_start) AS oldest',
  'SELECT SUM(rolled) AS rolled',
  'SELECT h.period_start, h.record_type, h.record_id, d.count IS NOT NULL … ORDER BY',
  'SELECT h.period_start, h.record_type, h.record_id, d.count IS NOT NULL … h.record_id >',
  'SELECT h.record_type, h.period_start, d.count IS NOT NULL … ORDER BY',
  'SELECT h.record_type, h.period_start, d.count IS NOT NULL … h.period_start >',
  'SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM slotted_counters … AS prunable',
  'SELECT MIN(period_start) AS oldest FROM counter_history',
  'SELECT TABLE_NAME AS name, TABLE_ROWS AS table_rows … information_schema.TABLES',
  'SELECT holder, leased_until',
  'SELECT n.name, t.count … FROM counter_periods',
  'SELECT n.name, t.count … FROM counter_totals',
  'SELECT record_id FROM counter_totals FORCE INDEX (PRIMARY) … ORDER BY',
  'SELECT record_id FROM counter_totals FORCE INDEX (PRIMARY) … record_id >',
  'SELECT SUM(total) AS total',
  'SELECT c.record_id, c.count, n.name',
  'SELECT record_id FROM ( (SELECT record_id FROM counter_totals',
  'SELECT record_id, count FROM counter_periods',
  'SELECT record_id, count FROM counter_totals',
  'SELECT record_id, name FROM counter_names … ORDER BY',
  'SELECT record_id, name FROM counter_names … AND name > x',
  'SELECT record_type, record_id, SUM(total)',
  'SELECT record_type, record_id, count AS total',
  'SELECT s.record_type, s.record_id, s.slot, s.count, t.version … ORDER BY',
  'SELECT s.record_type, s.record_id, s.slot, s.count, t.version … s.slot >',
  "SELECT t.record_id, 'total' AS part",
  'SELECT t.record_type, t.record_id, t.count AS total, t.version',
  'SELECT record_id, what, start, SUM(recorded)',
  "SELECT record_type, 'hour' AS what, start, SUM(recorded)",
  'SELECT record_type, record_id, name',
  'SELECT what, start, SUM(recorded)',
  'SELECT written_hour, record_type … ORDER BY',
  'SELECT written_hour, record_type … slot >',
  'UPDATE counter_totals',
  'SHOW GLOBAL STATUS WHERE Variable_name IN',
  'SHOW VARIABLES WHERE Variable_name IN',
  'UPDATE rollup_state',
]

/** The server's own views, which are in its memory and have no indexes: what they read does not grow with what is counted. */
const OF_SERVER = /^SHOW |information_schema/

/** What EXPLAIN may say of a table that is not a temporary one: found through an index, never all of it. */
const BY_INDEX = new Set(['const', 'eq_ref', 'ref', 'range', 'system'])

const matches = (sql: string, statement: string) => {
  const [begin, ...rest] = statement.split(' … ')
  const text = sql.replace(/\s+/g, ' ')
  return text.startsWith(begin!) && rest.every((part) => text.includes(part))
}

describe('every statement the Worker sends', () => {
  let db: TestDatabase
  let statements: RecordedStatement[]

  beforeAll(async () => {
    db = await freshDatabase()
    // Enough that a scan would show: idle counters, totals, names, and old slots to prune.
    for (let begin = 0; begin < 60_000; begin += 20_000) {
      const rows = Array.from(
        { length: 20_000 },
        (_, i) => `(1,${begin + i},7,0,1,FLOOR(UNIX_TIMESTAMP()/3600),DEFAULT)`,
      )
      await db.execute(`INSERT INTO slotted_counters VALUES ${rows.join(',')}`)
    }
    await db.execute('INSERT INTO counter_totals SELECT record_type, record_id, 5, 1, NULL FROM slotted_counters')
    await db.execute(
      `INSERT INTO counter_names SELECT record_type, record_id, CONCAT('key-', record_id) FROM slotted_counters`,
    )
    await db.execute(`INSERT INTO counter_history SELECT record_type, record_id, '2026-01-01', 5 FROM slotted_counters`)
    const old = Array.from({ length: 150 }, (_, i) => `(2,${i},7,0,1,1,DEFAULT)`)
    await db.execute(`INSERT INTO slotted_counters VALUES ${old.join(',')}`)
    await db.execute(
      `INSERT INTO counter_periods SELECT record_type, record_id, 1, '2026-01-01', 5 FROM counter_history`,
    )
    const hours = Array.from({ length: 5_000 }, (_, i) => `(1, 0, '2027-01-01' + INTERVAL ${i} HOUR, 1)`)
    const oldHours = Array.from({ length: 240 }, (_, i) => `(1, 0, '2026-01-01' + INTERVAL ${i} HOUR, 1)`)
    const oldDays = Array.from({ length: 10 }, (_, i) => `(1, 1, '2026-01-01' + INTERVAL ${i} DAY, 1)`)
    await db.execute(`INSERT INTO type_history VALUES ${[...hours, ...oldHours, ...oldDays].join(',')}`)
    await db.execute(`INSERT INTO counter_totals SELECT 9, record_id, count, version, NULL FROM counter_totals`)
    await db.execute(
      `INSERT INTO counter_periods SELECT 9, record_id, period, period_start, count FROM counter_periods`,
    )
    await db.execute(
      'ANALYZE TABLE slotted_counters, counter_totals, counter_names, counter_history, counter_periods, type_history',
    )

    // The first use of a table reads the server's own dictionary, which is not what is measured here.
    for (const table of [
      'slotted_counters',
      'counter_totals',
      'counter_names',
      'counter_history',
      'counter_adjustments',
      'counter_periods',
      'type_history',
      'rollup_state',
    ]) {
      await db.execute(`SELECT 1 FROM ${table} LIMIT 1`)
    }

    const worker = new TestWorker(db.url, {
      COUNTERS: {
        page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
        download: { record_type: 2 },
        number: { record_type: 9, key: 'integer', public: true },
      },
      ROLLUP: { page_slots: 20 },
      PRUNING: { page_slots: 100 },
      HISTORY: { page_hours: 100 },
    })
    const keys = Array.from({ length: 50 }, (_, i) => `/page/${i}`)
    statements = await db.recording(async () => {
      await worker.hit('page_view', '/a')
      await worker.api('POST', '/v1/counters/download/a%2Fb?return=count', { by: 2 })
      await worker.api('POST', '/v1/increments', { increments: keys.map((key) => ({ type: 'page_view', key })) })
      await worker.fetch('/v1/counters/page_view/%2Fa')
      await worker.fetch('/v1/counters/page_view/%2Fa?consistency=rolled')
      await worker.fetch(`/v1/counters/page_view?${keys.map((key) => `key=${key}`).join('&')}`)
      await worker.fetch('/healthz')
      await worker.api('GET', '/v1/status')
      await worker.fetch('/badge/page_view/%2Fa.svg')
      await worker.fetch('/badge/page_view/%2Fa.svg?period=day')
      // One that leaves something, and looks at how much.
      await new TestWorker(db.url, { ROLLUP: { page_slots: 1, max_statements: 14 } }).cron(ROLL_UP_CRON)
      await worker.cron(ROLL_UP_CRON)
      await worker.fetch('/badge/page_view/%2Fa.json?period=month')
      await worker.api('POST', '/v1/rollup')
      for (const query of ['', '?by=hour', '?by=month', '?tz=Europe/Berlin', '?from=2026-01-01&to=2026-01-02']) {
        await worker.fetch(`/v1/counters/page_view/%2Fa/history${query}`)
        await worker.fetch(`/v1/types/page_view/history${query}`)
      }
      for (const query of [
        '',
        '?period=day',
        '?period=month&date=2026-01-01',
        '?period=day&date=2026-01-01&limit=100',
      ]) {
        await worker.fetch(`/v1/top/page_view${query}`)
        await worker.fetch(`/v1/top/number${query}`)
      }
      for (const query of ['', '?prefix=key-59', '?prefix=key-59&after=key-599&limit=100']) {
        await worker.api('GET', `/v1/search/page_view${query}`)
      }
      for (const query of ['', '?after=1000', '?prefix=77']) await worker.api('GET', `/v1/search/number${query}`)
      await worker.api('PUT', '/v1/counters/page_view/%2Fa', { count: 5 })
      await worker.api('DELETE', '/v1/counters/page_view/never-counted')
      const imported = keys.map((key, i) => ({ type: 'page_view', key, count: 1, ...(i % 2 && { day: '2026-11-01' }) }))
      await worker.api('POST', '/v1/imports', { counters: imported }, { 'Idempotency-Key': 'explain' })
      await worker.api('GET', '/v1/export/page_view?limit=20')
      await worker.api('GET', '/v1/export/page_view?limit=20&by=day&after=100')
      await worker.cron(PRUNING_CRON)
      for (const after of ['counters.1.0', 'days.1.', 'hours.', 'calendar.1']) {
        expect((await worker.api('POST', `/v1/verify?limit=2&after=${after}`)).status).toBe(200)
      }
    })
  })

  it('is known here, and was sent', () => {
    const unknown = statements.filter(({ sql }) => !STATEMENTS.some((statement) => matches(sql, statement)))
    // BEGIN and COMMIT are the endpoint's own business.
    const tables = STATEMENTS.filter((statement) => !/^(BEGIN|COMMIT)$/.test(statement))
    const unsent = tables.filter((statement) => !statements.some(({ sql }) => matches(sql, statement)))
    expect({ unknown: unknown.map(({ sql }) => sql), unsent }).toEqual({ unknown: [], unsent: [] })
  })

  it('finds its rows through an index', async () => {
    const version = String((await db.execute('SELECT VERSION() AS version')).rows[0]!.version)
    const explain = version.includes('MariaDB') ? 'EXPLAIN' : 'EXPLAIN FORMAT=TRADITIONAL'
    for (const { sql } of statements.filter(({ sql }) => !sql.startsWith('INSERT') && !OF_SERVER.test(sql))) {
      const { rows } = await db.execute(`${explain} ${sql}`)
      for (const { table, type, key } of rows) {
        // <derived2> and <union1,2> are temporary tables, as long as what the rows below them returned.
        if (table === null || String(table).startsWith('<')) continue
        // In another index, deleting would lock gaps that others insert into.
        if (sql.startsWith('DELETE')) expect([sql.slice(0, 60), key]).toEqual([sql.slice(0, 60), 'PRIMARY'])
        expect({ sql: sql.slice(0, 300), table, byIndex: BY_INDEX.has(String(type)) && key !== null }).toMatchObject({
          byIndex: true,
        })
      }
    }
  })

  it('reads no more than it returns, adds up or changes', () => {
    const ofTables = statements.filter(({ sql }) => !OF_SERVER.test(sql))
    const excessive = ofTables.flatMap(({ sql, rowsRead, rowsReturned, rowsAffected }) => {
      // Pages that are put together from parts: each part may be a page.
      const parts = 20 * (sql.match(/LIMIT 20\)/g)?.length ?? 0)
      // What is checked of a type is compared with the sum of all its counters, of which there are 60,000 here; for a page of
      // two counters that are checked, up to 80 rows of each table are read.
      if (/SUM\(recorded\).*type_history/s.test(sql)) return []
      const verifies = /SUM\(recorded\)|AS part_0|MIN\(next\)|MAX\(period_start\)/.test(sql)
      // What an aggregate adds up: at most the 53 pending slots of this test, and its 150 old ones.
      const pending = /AS prunable/.test(sql) ? 203 : 53
      const added = verifies ? 250 : /SUM\((total|rolled|count)\)|COUNT\(\*\)/.test(sql) ? pending : 0
      // An index range is looked up once and read once past its end; a joined or temporary row is read twice more.
      const allowed = 4 * (rowsReturned + rowsAffected + added + parts) + 10
      return rowsRead > allowed ? [{ sql: sql.slice(0, 300), rowsRead, rowsReturned, rowsAffected, allowed }] : []
    })
    expect(excessive).toEqual([])
  })
})
