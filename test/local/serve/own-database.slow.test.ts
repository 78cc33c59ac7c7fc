import { spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { atEndOfSuite, stateDirectory } from '../npm-script.ts'
import { command, countSome, describeProducts, OwnedServer, stop, sums } from './owned-server.ts'
import { Served, serveFolder, TOKEN } from './serve-script.ts'

const authorized = { Authorization: `Bearer ${TOKEN}` }

/** How its dump begins. */
const DUMP = {
  mariadb: 'mariadb-dump --single-transaction --master-data',
  mysql: 'mysqldump --single-transaction --source',
}

describeProducts('serve, with MYSQL_URL of', (product) => {
  const atEnd = atEndOfSuite()
  let owned: OwnedServer
  let served: Served

  it('says that its password was changed or its server stopped, and continues by itself', async () => {
    owned = await OwnedServer.start(product, atEnd)
    const folder = await serveFolder(atEnd)
    served = await Served.start({ MYSQL_URL: owned.mysqlUrl, TRUSTED_PROXIES: '127.0.0.1' }, { folder, atEnd })
    let acknowledged = 0
    let unknown = 0
    const view = async () => {
      const response = await served.view()
      if (response.status === 204) acknowledged++
      else if (response.headers.get('X-Hit') === 'unknown') unknown++
      return response.status
    }
    const status = async () => (await fetch(`${served.url}/v1/status`, { headers: authorized })).text()
    const failures = () => served.log.filter(({ level, path }) => level === 'error' && path === '/hit').length
    /** Sends hits until one is refused and the log says so: a line a second. */
    const refused = (before: number) =>
      expect.poll(async () => [await view(), failures() > before], { interval: 200 }).toEqual([503, true])
    expect(await view()).toBe(204)

    const user = `counter@'127.0.0.1'`
    await owned.query(`ALTER USER ${user} IDENTIFIED BY 'other'`)
    // One may have ended by itself.
    for (const { Id, User } of await owned.query('SHOW PROCESSLIST'))
      if (User === 'counter') await owned.query(`KILL ${Id}`).catch(() => {})
    await refused(0)
    expect(await status()).toContain('refuses the credentials')
    await owned.query(`ALTER USER ${user} IDENTIFIED BY 'PASSWORD'`)
    await expect.poll(view).toBe(204)

    const before = failures()
    await owned.server.stop()
    await refused(before)
    expect(await status()).toContain('database_unavailable')
    await owned.startAgain()
    await expect.poll(view).toBe(204)
    const counted = await served.count('page_view')
    expect(counted).toBeGreaterThanOrEqual(acknowledged)
    expect(counted).toBeLessThanOrEqual(acknowledged + unknown)
  })

  it('is restored from the dump and the copied binary log, and loses only what was not copied', async () => {
    const backups = await stateDirectory(atEnd)
    await countSome(served, '/dumped', 20)
    await owned.run(backups, command(DUMP[product]))
    const dump = await owned.run(backups, 'cat counter.sql')
    const [, file = '', position = ''] = /_LOG_FILE='(.*?)', \w+_LOG_POS=(\d+)/.exec(dump) ?? []

    const copy = command('mysqlbinlog --read-from')
      .replace('DATABASE', '127.0.0.1')
      .replace(/binlog\.\d+/, file)
    const copying = spawn('bash', ['-c', `exec ${copy}`], { cwd: backups, env: await owned.clientOf(backups) })
    const copied = new Promise((resolve) => copying.once('exit', resolve))
    onTestFinished(() => void copying.kill())
    await countSome(served, '/dumped', 5)
    await countSome(served, '/later', 30)
    const expected = await sums(served)
    const log = (await owned.query('SHOW BINARY LOGS')).at(-1)!
    expect(log.Log_name).toBe(file)
    await expect.poll(async () => (await stat(join(backups, file))).size).toBeGreaterThanOrEqual(log.File_size)
    copying.kill()
    await copied
    await countSome(served, '/later', 7)
    await stop(served)
    await owned.server.stop()

    owned = await OwnedServer.start(product, atEnd)
    await owned.run(backups, command('mysql slotted_counter <'))
    const apply = command('mysqlbinlog --database')
    const applied = apply.replace('POSITION', position).replace('binlog.0000NN …', file)
    await owned.run(backups, product === 'mysql' ? applied : applied.replace('--skip-gtids ', ''))
    served = await Served.start(
      { MYSQL_URL: owned.mysqlUrl, TRUSTED_PROXIES: '127.0.0.1' },
      { folder: served.folder, atEnd },
    )
    expect(await sums(served)).toEqual(expected)
    expect([await served.count('page_view', '/dumped'), await served.count('page_view', '/later')]).toEqual([25, 30])
  })
})
