import mysql, { type RowDataPacket } from 'mysql2/promise'
import { expect, inject, it, onTestFinished } from 'vitest'
import { migrate } from '../../../cli/migrate/migrations.ts'
import { PlanetScaleEndpoint } from '../../../local/planetscale/endpoint.ts'
import { UNSHARDED } from '../../harness/databases/keyspace-pool.ts'
import { onVitess } from '../../harness/on-vitess.ts'
import { takeDatabase } from '../../harness/taken-databases.ts'
import { stateDirectory } from '../npm-script.ts'
import { command, countSome, describeProducts, OwnedServer, stop, sums } from './owned-server.ts'
import { Served, serveFolder } from './serve-script.ts'

/** How the commands of the document begin. */
const DUMP = {
  mariadb: 'mariadb-dump --single-transaction --no-create-info',
  mysql: 'mysqldump --single-transaction --set-gtid-purged=OFF --no-create-info',
}

describeProducts('serve, on the way out of', (product) => {
  it('moves every sum into the tables of DATABASE_URL, and counts there', async () => {
    const owned = await OwnedServer.start(product, onTestFinished)
    // No window ends while the test runs.
    const folder = await serveFolder(onTestFinished, (settings) => {
      const year = settings.replace(/^dedupe_seconds = .*$/m, `dedupe_seconds = ${365 * 86_400}`)
      return `${year}\n[vars.PRUNING]\nidempotency_hours = ${365 * 24}\n`
    })
    const behind = { TRUSTED_PROXIES: '127.0.0.1' }
    let served = await Served.start({ MYSQL_URL: owned.mysqlUrl, ...behind }, { folder })
    await countSome(served, '/moved', 10)
    await countSome(served, '/stays', 5)
    const expected = await sums(served)
    await stop(served)

    const { name, databaseUrl } = onVitess ? await emptyKeyspace() : await takeDatabase()
    const backups = await stateDirectory()
    await owned.run(backups, command(DUMP[product]))
    const { href, port, username } = new URL(inject('mysqlUrl'))
    const load = command('`mysql -h 127.0.0.1 -P 3309').slice(1, -1).replace('3309', port)
    await owned.run(backups, load.replace('-u root', `-u ${username}`).replace(UNSHARDED, name), href)

    served = await Served.start({ DATABASE_URL: databaseUrl, ...behind }, { folder })
    expect(await sums(served)).toEqual(expected)
    await countSome(served, '/moved', 12)
    expect([await served.count('page_view', '/moved'), await served.count('visitor', '/moved')]).toEqual([22, 12])
    await sums(served)
  })
})

/** Tables without rows in the keyspace of one shard, and an endpoint for it. */
async function emptyKeyspace(): Promise<{ name: string; databaseUrl: string }> {
  const mysqlUrl = inject('mysqlUrl')
  await migrate({ databaseUrl: `${mysqlUrl}/${UNSHARDED}` })
  const connection = await mysql.createConnection(`${mysqlUrl}/${UNSHARDED}`)
  const [tables] = await connection.query<RowDataPacket[]>('SHOW TABLES')
  for (const table of tables.flatMap((row) => Object.values(row)))
    if (table !== 'schema_version') await connection.query('DELETE FROM ??', [table])
  await connection.end()
  const endpoint = new PlanetScaleEndpoint({ mysqlUrl, password: 'way-out' })
  await endpoint.listen()
  onTestFinished(() => endpoint.close())
  return { name: UNSHARDED, databaseUrl: endpoint.urlOf(UNSHARDED) }
}
