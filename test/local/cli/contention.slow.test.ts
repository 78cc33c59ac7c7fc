import { writeFile } from 'node:fs/promises'
import mysql from 'mysql2/promise'
import { beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { readLockWaits, serverOf } from '../../../cli/contention/lock-waits.ts'
import { connectDatabase } from '../../../cli/database-connection.ts'
import { startDatabaseServer } from '../../../local/database/database-server.ts'
import { random63 } from '../../../src/counters/ids.ts'
import { applyBatch } from '../../../src/counters/ledger/slots.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { behave } from '../../harness/behave.ts'
import { takeDatabase } from '../../harness/taken-databases.ts'
import { withBuckets } from '../../harness/with-buckets.ts'
import { NpmScript, saying, stateDirectory } from '../npm-script.ts'

it('The seconds of a wait are right on a server whose system has another time zone', async () => {
  vi.stubEnv('TZ', 'Asia/Kolkata')
  const server = await startDatabaseServer({ directory: await stateDirectory(), say: () => {} })
  vi.unstubAllEnvs()
  onTestFinished(() => server.stop())
  const url = `${server.url}/waits`
  const admin = await mysql.createConnection({ uri: server.url })
  await admin.query('CREATE DATABASE waits')
  await admin.query('CREATE TABLE waits.t (id INT PRIMARY KEY)')
  await admin.query('INSERT INTO waits.t VALUES (1)')
  const [holder, waiter] = await Promise.all([0, 1].map(() => mysql.createConnection({ uri: url })))
  const reader = await connectDatabase(url)
  await holder!.query('BEGIN')
  await holder!.query('SELECT * FROM t FOR UPDATE')
  const waiting = waiter!.query('SELECT * FROM t FOR UPDATE')
  const { product } = await serverOf(reader)
  // MariaDB refreshes its tables only if they were not read for 100 ms.
  await expect.poll(() => readLockWaits(reader, product), { interval: 250 }).toHaveLength(1)
  const [wait] = await readLockWaits(reader, product)
  for (const { seconds } of [wait!.waiting, wait!.holding]) {
    expect(seconds).toBeGreaterThanOrEqual(0)
    expect(seconds).toBeLessThan(600)
  }
  await holder!.query('ROLLBACK')
  await waiting
  await Promise.all([admin.end(), holder!.end(), waiter!.end(), reader.close()])
})

/** A counter with an id beyond 2^63, and the slot that connections compete for. */
const RECORD_ID = 2n ** 64n - 11n
const SLOT = 77n

describe('npm run contention', () => {
  let databaseUrl: string
  let mysqlUrl: string
  let connections: mysql.Connection[]

  beforeEach(async () => {
    const made = await takeDatabase()
    databaseUrl = made.databaseUrl
    mysqlUrl = `${inject('mysqlUrl')}/${made.name}`
    connections = await Promise.all([0, 1, 2].map(() => mysql.createConnection({ uri: mysqlUrl })))
    onTestFinished(async () => {
      for (const connection of connections) connection.destroy()
    })
    await connections[0]!.query(
      withBuckets(
        `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, kept_until) VALUES (1, ${RECORD_ID}, ${SLOT}, 1, 1, 1)`,
      ),
    )
    await connections[0]!.query(
      withBuckets(`INSERT INTO counters (record_type, record_id, name) VALUES (1, ${RECORD_ID}, '/blog/hello')`),
    )
  })

  const contention = (env: NodeJS.ProcessEnv, ...args: string[]) =>
    new NpmScript(['run', '-s', 'contention', '--', ...args], env)
  const row = `slotted_counters, record_type 1, record_id ${RECORD_ID}, slot ${SLOT} ("/blog/hello")`
  /** Waits until the server reports a lock wait. */
  const lockWait = async () => {
    await expect
      .poll(
        async () => {
          const [rows] = await connections[2]!.query(
            `SELECT COUNT(*) AS n FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT' AND trx_query LIKE '%${RECORD_ID}%'`,
          )
          return Number((rows as { n: number }[])[0]!.n)
        },
        // MariaDB refreshes this table only if it was not read for 100 ms.
        { interval: 250 },
      )
      .toBeGreaterThan(0)
  }

  it('shows who waits for whom, for which row of which counter and with which statements, over both protocols', async () => {
    const [holder, waiter] = connections as [mysql.Connection, mysql.Connection]
    await holder.query('BEGIN')
    await holder.query(
      `UPDATE slotted_counters SET count = count + 1 WHERE record_id = ${RECORD_ID} AND record_type = 1`,
    )
    const waiting = waiter.query(
      `UPDATE slotted_counters SET count = count + 5 WHERE record_type = 1 AND record_id = ${RECORD_ID} AND slot = ${SLOT}`,
    )
    await lockWait()
    for (const url of [mysqlUrl, databaseUrl]) {
      const script = contention({ DATABASE_URL: url })
      expect(await script.ended, script.output).toBe(0)
      expect(script.output).toMatch(/^(MySQL|MariaDB) [\d.]+ at 127\.0\.0\.1:\d+, database slotted_test/)
      expect(script.output).toContain('Right now, one connection waits for rows that other transactions have locked')
      expect(script.output).toMatch(
        new RegExp(`connection ${waiter.threadId} has waited \\d+ s for connection ${holder.threadId}\\n +row +`),
      )
      expect(script.output).toContain(`row         ${row}\n`)
      expect(script.output).toMatch(/waiting +UPDATE slotted_counters SET count = count \+ 5/)
      expect(script.output).toMatch(/held by +a transaction that has been open for \d+ s and is idle/)
      if (script.output.startsWith('MySQL'))
        expect(script.output).toContain('its last statement: UPDATE slotted_counters SET count = count + 1')
      expect(script.output).toContain(`in 10 samples, up to 1 connection waited for ${row}`)
      expect(script.output).toContain('writers should not wait for each other')
    }
    await holder.query('ROLLBACK')
    await waiting
    const after = contention({ DATABASE_URL: mysqlUrl })
    expect(await after.ended).toBe(0)
    expect(after.output).toContain('Right now, no connection waits for a row.')
    expect(after.output).toContain('Hot rows: none')
  })

  it('finds the hot row of increments that share a slot', async () => {
    // Long compared with the rest of a write, so that nearly all writers wait at any time.
    await behave(databaseUrl, { commitMs: 250 })
    const db = openDatabase({ url: databaseUrl, deadlineMs: 60_000 })
    let writing = true
    const write = async () => {
      while (writing) {
        await applyBatch(db, [{ recordType: 1, recordId: RECORD_ID, slot: SLOT, count: 1n, batch: random63() }], 24)
      }
    }
    const writers = Promise.all(Array.from({ length: 8 }, write))
    try {
      await lockWait()
      const script = contention({ DATABASE_URL: mysqlUrl })
      expect(await script.ended).toBe(0)
      expect(script.output).toMatch(/in \d+ samples, up to [2-7] connections waited for slotted_counters/)
      expect(script.output).toContain(row)
      expect(script.output).toContain('INSERT INTO slotted_counters')
    } finally {
      writing = false
      await writers
    }
  })

  it('explains what a database user without rights cannot see', async () => {
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
    expect(script.output).toMatch(/Lock waits: not available\. The database user may lack the right to see it.*denied/)
  })

  it('repeats with --watch until it is interrupted', async () => {
    const script = contention({ DATABASE_URL: mysqlUrl }, '--watch', '0.5')
    await script.printed(/no connection waits[\s\S]*no connection waits/)
    await script.signal('SIGINT')
    await script.ended
  })

  it.each([
    ['no database', { DATABASE_URL: '', STATE_DIR: '/nonexistent' }, [], 'There is no database to inspect'],
    [
      'a database that does not answer',
      { DATABASE_URL: 'mysql://root@127.0.0.1:1/x' },
      [],
      '127.0.0.1:1 could not be queried: ',
    ],
    ['a URL without a database', { DATABASE_URL: 'mysql://root@127.0.0.1:1' }, [], 'must name the database'],
    ['an invalid interval', {}, ['--watch', 'often'], 'must be a number'],
  ])('explains %s', async (_, env, args, message) => {
    expect(await contention(env, ...args).outcome()).toEqual(saying(1, message))
  })

  it('inspects the database of the npm start that runs here by default', async () => {
    const folder = await stateDirectory()
    await writeFile(`${folder}/worker.env`, `DATABASE_URL=${JSON.stringify(databaseUrl)}\nAPI_TOKEN="local"\n`)
    const { host, username } = new URL(databaseUrl)
    const outcome = await contention({ DATABASE_URL: '', STATE_DIR: folder }).outcome()
    expect(outcome).toEqual(saying(0, `at ${host}, database ${username}`))
  })
})
