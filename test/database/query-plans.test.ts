import { beforeAll, describe, expect, it } from 'vitest'
import type { RecordedStatement } from '../../local/planetscale/fault-injection.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { fillTables, STATEMENTS, sendEveryStatement, statementOf } from '../harness/every-statement.ts'
import { onVitess } from '../harness/on-vitess.ts'
import { isSent, sourceStatements, withoutBlanks } from '../harness/source-statements.ts'

/** Views of the server itself. They are in its memory and have no indexes, and their size does not depend on the counters. */
const OF_SERVER = /^SHOW |information_schema/

const TABLES = [
  'slotted_counters',
  'counters',
  'counter_history',
  'counter_adjustments',
  'counter_periods',
  'type_history',
  'rollup_state',
  'visitor_salts',
  'change_keys',
  'latest_files',
  'background_runs',
  'new_key_budgets',
]

/** They have a row for each range, and one row, so they may be read whole. */
const SMALL = new Set(['rollup_state', 'schema_version'])

/** The access types that use an index and do not read the whole table. */
const BY_INDEX = new Set(['const', 'eq_ref', 'ref', 'range', 'system'])

// EXPLAIN and the counts of rows are those of one server. shard-plans.test.ts has the plans on shards.
describe.skipIf(onVitess)('Every statement that the Worker sends', () => {
  let db: TestDatabase
  let statements: RecordedStatement[]

  beforeAll(async () => {
    db = await freshDatabase()
    // So many idle counters that a scan would show.
    await fillTables(db, { idle: 60_000 })
    // The optimizer's choices depend on statistics. They are those of all pages, and the server does not renew them by itself,
    // which it would do from a sample, at any moment.
    for (const table of TABLES) {
      await db.execute(`ALTER TABLE ${table} STATS_PERSISTENT = 1, STATS_AUTO_RECALC = 0, STATS_SAMPLE_PAGES = 10000`)
    }
    await db.execute(`ANALYZE TABLE ${TABLES.join()}`)

    // The first use of a table also reads the server's dictionary, which must not be measured.
    for (const table of TABLES) await db.execute(`SELECT 1 FROM ${table} LIMIT 1`)

    statements = await sendEveryStatement(db)
  })

  it('is listed, and was sent', () => {
    // Whether BEGIN and COMMIT are recorded is up to the endpoint.
    const recorded = statements.map(({ sql }) => sql).filter((sql) => !/^(BEGIN|COMMIT|ROLLBACK)$/i.test(sql))
    const sent = new Set(recorded.map((sql) => statementOf(sql)))
    expect([...sent].sort()).toEqual(Object.keys(STATEMENTS).sort())
  })

  it('is sent here, whichever file it is in', () => {
    const sent = statements.map(({ sql }) => withoutBlanks(sql))
    const inSource = sourceStatements()
    expect(inSource.length).toBeGreaterThan(70)
    expect(inSource.filter((statement) => !sent.some((sql) => isSent(sql, statement)))).toEqual([])
  })

  it('names the bucket wherever it names a record id or the first one of a range', () => {
    expect(statements.map(({ sql }) => sql).filter(lacksBucket)).toEqual([])
    const without = [
      'SELECT count FROM counters WHERE record_type = 1 AND record_id = 7',
      'UPDATE counters SET count = 1 WHERE record_type = 1 AND record_id IN (7,8)',
      'SELECT 1 FROM slotted_counters AS s WHERE s.record_id BETWEEN 0 AND 9',
      'SELECT 1 FROM rollup_state WHERE range_start IN (0)',
      'SELECT 1 FROM counters AS n JOIN slotted_counters AS s ON s.record_type = n.record_type AND s.record_id = n.record_id',
      'DELETE FROM type_history WHERE (record_type, period, period_start, range_lane) IN ((1,1,1,1))',
      'INSERT INTO counters (record_type, record_id, name) VALUES (1,1,1)',
    ]
    expect(without.filter((sql) => !lacksBucket(sql))).toEqual([])
  })

  it('finds its rows through an index', async () => {
    const version = String((await db.execute('SELECT VERSION() AS version')).rows[0]!.version)
    const mariaDb = version.includes('MariaDB')
    const explain = mariaDb ? 'EXPLAIN' : 'EXPLAIN FORMAT=TRADITIONAL'
    for (const { sql } of statements.filter(({ sql }) => !sql.startsWith('INSERT') && !OF_SERVER.test(sql))) {
      const { rows } = await db.execute(`${explain} ${sql}`)
      for (const { table, type, key } of rows) {
        // <derived2> and <union1,2> are temporary tables. They hold what the rows below them returned.
        if (table === null || String(table).startsWith('<') || SMALL.has(String(table))) continue
        // With another index, DELETE would lock gaps into which other transactions insert. MariaDB may use either index of
        // counter_history: both hold the whole primary key, so DELETE reads at most two entries for each row.
        const either = mariaDb && sql.startsWith('DELETE FROM counter_history')
        const indexes = either ? ['PRIMARY', 'period_start'] : ['PRIMARY']
        if (sql.startsWith(`DELETE FROM ${table}`)) expect(indexes, sql.slice(0, 60)).toContain(key)
        const byIndex = BY_INDEX.has(String(type)) && key !== null
        expect({ sql: sql.slice(0, 300), table, byIndex }).toEqual({ sql: expect.any(String), table, byIndex: true })
      }
    }
  })

  it('reads no more rows than it returns, sums or changes', () => {
    const ofTables = statements.filter(({ sql }) => !OF_SERVER.test(sql))
    const excessive = ofTables.flatMap(({ sql, rowsRead, rowsReturned, rowsAffected }) => {
      // A page may be made of parts, and each part may be a whole page.
      const parts = 20 * (sql.match(/LIMIT 20\)/g)?.length ?? 0)
      // Verifying a type sums all its counters, which are 60,000 here. Verifying a page of two counters reads up to 80 rows of
      // each table.
      if (/SUM\(recorded\).*type_history/s.test(sql)) return []
      const verifies = /SUM\(recorded\)|AS part_0|MIN\(next\)|MAX\(period_start\)/.test(sql)
      // An aggregate sums at most the 53 pending slots of this test.
      const added = verifies ? 250 : /SUM\((total|rolled|h\.count|count|number)\)|COUNT\(\*\)/.test(sql) ? 53 : 0
      // Names, and the pending slots of readings, are looked up whether they are there or not.
      const asked = /AS gone FROM|^\(SELECT record_type, record_id, slot, count FROM/.test(sql)
        ? sql.match(/\b\d{5,}\b/g)!.length
        : 0
      // The 83 keys of a prefix, and those that a search finds, are read whether they have anything to add or not, in each part.
      const ofNames = sql.match(/ counters AS n FORCE INDEX \((?:name|PRIMARY)\)\s+STRAIGHT_JOIN/g)?.length ?? 0
      const named = 83 * ofNames * (1 + (sql.match(/ AS period_start\b/g)?.length ?? 0))
      // Whether there are too many keys or slots is found by reading them.
      const tooMany = /1 FROM \w+ (AS h )?FORCE INDEX.* LIMIT \d+, 1\)?$/s.test(sql) ? 83 : 0
      // The keys of a list are counted up to 1,000, each with its name.
      const counted = /AS found FROM/.test(sql) ? 2 * 1_001 : 0
      // A packed row has the counts of up to 24 rows.
      const packed = /GROUP_CONCAT/.test(sql) ? 23 * rowsReturned : 0
      // Starts are looked up for each counter of a list, whether there are any or not.
      const ofPeriod = sql.split('UNION ALL').map((part) => {
        const [, list, periods] = /record_id IN \(([\d,]+)\) AND \((.*period_start.*)\) GROUP BY/s.exec(part) ?? []
        if (list === undefined) return 0
        const ranges = periods!.match(/period_start >=/g)?.length ?? 0
        const starts = [...periods!.matchAll(/period_start IN \(([^)]*)\)/g)].flatMap(([, some]) => some!.split(','))
        return list.split(',').length * (ranges + starts.length)
      })
      // Whether a counter has too many pending slots is looked up apart from their sum.
      const lookedUp = /LIMIT \d+, 1\) IS NULL/.test(sql) ? rowsReturned : 0
      // The first record type of each of five tables goes through a temporary one.
      const firsts = /MIN\(record_type\) AS record_type FROM \(/.test(sql) ? 5 : 0
      // A range needs a look-up and one read past its end. A joined or temporary row is read twice more.
      const allowed =
        4 * (rowsReturned + lookedUp + rowsAffected + added + parts) +
        asked +
        named +
        tooMany +
        counted +
        packed +
        ofPeriod.reduce((sum, rows) => sum + rows, 0) +
        firsts +
        10
      return rowsRead > allowed ? [{ sql: sql.slice(0, 300), rowsRead, rowsReturned, rowsAffected, allowed }] : []
    })
    expect(excessive).toEqual([])
  })
})

/** Whether a statement names an id without its bucket. The last slot of a page is no name, but a place from which to continue. */
function lacksBucket(sql: string): boolean {
  return (
    /\b(record_id|range_start|range_lane|task) (= \d+\b|IN \(\d[\d,]*\))(?! AND (\w+\.)?(bucket|slot >))/.test(sql) ||
    /(\w+)\.record_id = (\w+)\.record_id(?! AND \1\.bucket = \2\.bucket)/.test(sql) ||
    /record_id BETWEEN/.test(sql) ||
    (/(record_id|range_lane)[ ,\w]*\) IN \(\(/.test(sql) && !/ bucket IN \(\d/.test(sql)) ||
    /^INSERT (IGNORE )?INTO \w+ \((?!.*?\bbucket\b.*?\) (VALUES|SELECT))/s.test(sql.replace(/\s+/g, ' '))
  )
}
