import { randomBytes } from 'node:crypto'
import { expect, inject, it, onTestFinished } from 'vitest'
import { PlanetScaleEndpoint } from '../../../local/planetscale/endpoint.ts'
import { databaseAt, directConnection, emptyDatabase } from './endpoint-database.ts'

it('A connection that cannot be prepared fails the statement that needs it, and no other', async () => {
  const { name } = await emptyDatabase()
  const root = await directConnection(name)
  const user = `limited_${randomBytes(4).toString('hex')}`
  onTestFinished(async () => {
    await root.query(`DROP USER ${user}@'%'`)
    await root.end()
  })
  // The endpoint's first query asks for the version. The second one prepares a connection.
  await root.query(`CREATE USER ${user}@'%' IDENTIFIED BY 'password' WITH MAX_QUERIES_PER_HOUR 1`)
  await root.query(`GRANT ALL ON \`${name}\`.* TO ${user}@'%'`)
  const url = new URL(inject('mysqlUrl'))
  const mysqlUrl = `mysql://${user}:password@${url.host}`
  const endpoint = new PlanetScaleEndpoint({ mysqlUrl, password: 'test' })
  await endpoint.listen()
  onTestFinished(() => endpoint.close())
  const { execute } = databaseAt(name, endpoint.urlOf(name))

  const { body } = await execute('SELECT 1')
  expect(body.error?.message).toContain('(errno 1226)')
  await root.query(`ALTER USER ${user}@'%' WITH MAX_QUERIES_PER_HOUR 0`)
  expect((await execute('SELECT @@time_zone')).body.result?.rows).toEqual([{ lengths: ['6'], values: btoa('+00:00') }])
})
