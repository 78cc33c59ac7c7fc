import { writeFile } from 'node:fs/promises'
import mysql from 'mysql2/promise'
import { beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { applyBatch } from '../../src/counters/batch.ts'
import { random64 } from '../../src/counters/random.ts'
import { openDatabase } from '../../src/database/database.ts'
import { NpmScript, stateDirectory } from './npm-script.ts'

/** A counter whose id is beyond 2^63, and the slot that is fought over. */
const RECORD_ID = 2n ** 64n - 11n
const SLOT = 77n

describe('npm run contention', () => {
  let databaseUrl: string
  let mysqlUrl: string
  let connections: mysql.Connection[]

  beforeEach(async () => {
    const response = await fetch(`${inject('databases')}?migrate`, { method: 'POST' })
    const made = (await response.json()) as { name: string; databaseUrl: string }
    databaseUrl = made.databaseUrl
    mysqlUrl = `${inject('mysqlUrl')}/${made.name}`
    connections = await Promise.all([0, 1, 2].map(() => mysql.createConnection({ uri: mysqlUrl })))
    onTestFinished(async () => {
      for (const connection of connections) connection.destroy()
    })
    await connections[0]!.query(
      `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour) VALUES (1, ${RECORD_ID}, ${SLOT}, 1, 1, 1)`,
    )
    await connections[0]!.query(`INSERT INTO counter_names VALUES (1, ${RECORD_ID}, '/blog/hello')`)
  })

  const contention = (env: NodeJS.ProcessEnv, ...args: string[]) =>
    new NpmScript(['run', '-s', 'contention', '--', ...args], env)
  const row = `slotted_counters, record_type 1, record_id ${RECORD_ID}, slot ${SLOT} ("/blog/hello")`
  const connectionId = (connection: mysql.Connection) => connection.threadId
  /** Waits until the server itself says that somebody waits here. */
  const somebodyWaits = async () => {
    await expect
      .poll(
        async () => {
          const [rows] = await connections[2]!.query(
            `SELECT COUNT(*) AS n FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT' AND trx_query LIKE '%${RECORD_ID}%'`,
          )
          return Number((rows as { n: number }[])[0]!.n)
        },
        { timeout: 30_000 },
      )
      .toBeGreaterThan(0)
  }

  it('says in words who waits for whom, for which row of which counter, with which statements, over either protocol', async () => {
    const [holder, waiter] = connections as [mysql.Connection, mysql.Connection]
    await holder.query('BEGIN')
    await holder.query(
      `UPDATE slotted_counters SET count = count + 1 WHERE record_id = ${RECORD_ID} AND record_type = 1`,
    )
    const waiting = waiter.query(
      `UPDATE slotted_counters SET count = count + 5 WHERE record_type = 1 AND record_id = ${RECORD_ID} AND slot = ${SLOT}`,
    )
    await somebodyWaits()
    for (const url of [mysqlUrl, databaseUrl]) {
      const script = contention({ DATABASE_URL: url })
      expect(await script.ended, script.output).toBe(0)
      expect(script.output).toMatch(/^(MySQL|MariaDB) [\d.]+ at 127\.0\.0\.1:\d+, database slotted_test/)
      expect(script.output).toContain('Right now one connection waits for rows that others have changed')
      expect(script.output).toMatch(
        new RegExp(
          `connection ${connectionId(waiter)} has waited \\d+ s for connection ${connectionId(holder)}\\n +the row +`,
        ),
      )
      expect(script.output).toContain(`the row     ${row}\n`)
      expect(script.output).toMatch(/it wants +UPDATE slotted_counters SET count = count \+ 5/)
      expect(script.output).toMatch(
        /held by +a transaction that has been open for \d+ s and runs nothing at this moment/,
      )
      if (script.output.startsWith('MySQL'))
        expect(script.output).toContain('its last statement: UPDATE slotted_counters SET count = count + 1')
      expect(script.output).toContain(`waited for in 10, by up to 1 at once: ${row}`)
      expect(script.output).toContain('writers should never meet there')
      expect(script.output).toMatch(
        /Since the server started, \d+ .* ago, in all its databases:\n +\d+ waits for a row/,
      )
    }
    await holder.query('ROLLBACK')
    await waiting
    const after = contention({ DATABASE_URL: mysqlUrl })
    expect(await after.ended).toBe(0)
    expect(after.output).toContain('Right now nobody waits for a row.')
    expect(after.output).toContain('Hot rows: none')
  })

  it('finds the hot row of increments that share a slot', async () => {
    await fetch(`${new URL(databaseUrl).origin}/local/behaviour`, {
      method: 'PUT',
      headers: { Authorization: `Basic ${btoa(`${new URL(databaseUrl).username}:${new URL(databaseUrl).password}`)}` },
      body: JSON.stringify({ commitMs: 20 }),
    })
    const db = openDatabase({ url: databaseUrl, deadlineMs: 60_000 })
    let writing = true
    const write = async () => {
      while (writing) {
        await applyBatch(db, [{ recordType: 1, recordId: RECORD_ID, slot: SLOT, count: 1n, batch: random64() }])
      }
    }
    const writers = Promise.all(Array.from({ length: 8 }, write))
    try {
      await somebodyWaits()
      const script = contention({ DATABASE_URL: mysqlUrl })
      expect(await script.ended).toBe(0)
      expect(script.output).toMatch(/waited for in \d+, by up to [2-7] at once: slotted_counters/)
      expect(script.output).toContain(row)
      expect(script.output).toContain('INSERT INTO slotted_counters')
    } finally {
      writing = false
      await writers
    }
  })

  it('tells the latest deadlock: its statements, which one was undone, and where', async () => {
    const [one, other] = connections as [mysql.Connection, mysql.Connection]
    await one.query(`INSERT INTO counter_totals VALUES (1, 1, 0, 0, NULL), (1, 2, 0, 0, NULL)`)
    const update = (id: number) =>
      `UPDATE counter_totals SET count = count + 10${id} WHERE record_type = 1 AND record_id = ${id}`
    await one.query('BEGIN')
    await other.query('BEGIN')
    await one.query(update(1))
    await other.query(update(2))
    const both = await Promise.allSettled([one.query(update(2)), other.query(update(1))])
    expect(both.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    await Promise.all([one.query('ROLLBACK'), other.query('ROLLBACK')])
    const script = contention({ DATABASE_URL: mysqlUrl })
    expect(await script.ended).toBe(0)
    expect(script.output).toMatch(/The latest deadlock, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: /)
    const [, deadlock = ''] = script.output.split('The latest deadlock')
    expect(deadlock).toContain(update(1))
    expect(deadlock).toContain(update(2))
    expect(deadlock.match(/\(undone\)/g)).toHaveLength(1)
    expect(deadlock).toContain('rows of counter_totals, key PRIMARY')
    expect(script.output).toMatch(/ [1-9]\d* deadlocks/)
  })

  it('says what a user without rights may not look at', async () => {
    const user = `reader_${Date.now().toString(36)}`
    const [admin] = connections as [mysql.Connection]
    const database = new URL(mysqlUrl).pathname.slice(1)
    await admin.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'secret'`)
    onTestFinished(async () => {
      const cleaner = await mysql.createConnection({ uri: mysqlUrl })
      await cleaner.query(`DROP USER '${user}'@'%'`)
      await cleaner.end()
    })
    await admin.query(`GRANT SELECT ON \`${database}\`.* TO '${user}'@'%'`)
    const url = new URL(mysqlUrl)
    url.username = user
    url.password = 'secret'
    const script = contention({ DATABASE_URL: url.href })
    expect(await script.ended, script.output).toBe(0)
    expect(script.output).toMatch(
      /Who waits for whom: not to be seen here\. The database user may not look at it.*denied/,
    )
    expect(script.output).toMatch(/The latest deadlock: not to be seen here/)
    expect(script.output).toMatch(/\d+ waits for a row/)
  })

  it('again and again with --watch, until it is interrupted', async () => {
    const script = contention({ DATABASE_URL: mysqlUrl }, '--watch', '0.5')
    await script.printed(/nobody waits[\s\S]*nobody waits/)
    await script.signal('SIGINT')
    await script.ended
  })

  it.each([
    ['no database', { DATABASE_URL: '', STATE_DIR: '/nonexistent' }, [], 'No database is known'],
    [
      'one that does not answer',
      { DATABASE_URL: 'mysql://root@127.0.0.1:1/x' },
      [],
      '127.0.0.1:1 could not be asked: ',
    ],
    ['one without a name', { DATABASE_URL: 'mysql://root@127.0.0.1:1' }, [], 'must name the database'],
    ['an interval that is none', {}, ['--watch', 'often'], 'must be a number'],
  ])('says what is wrong with %s', async (_, env, args, message) => {
    const script = contention(env, ...args)
    expect(await script.ended).toBe(1)
    expect(script.output).toContain(message)
  })

  it('looks at the database of the npm start that runs here, without being told', async () => {
    const folder = await stateDirectory()
    await writeFile(`${folder}/worker.env`, `DATABASE_URL=${JSON.stringify(databaseUrl)}\nAPI_TOKEN="local"\n`)
    const script = contention({ DATABASE_URL: '', STATE_DIR: folder })
    expect(await script.ended, script.output).toBe(0)
    expect(script.output).toContain(`at ${new URL(databaseUrl).host}, database ${new URL(databaseUrl).username}`)
  })
})
