import { mkdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import mysql, { type RowDataPacket } from 'mysql2/promise'
import { expect, it, onTestFinished } from 'vitest'
import { startDatabaseServer } from '../../../local/database/database-server.ts'
import { startLocalDatabase } from '../../../local/database/local-database.ts'
import { stateDirectory } from '../npm-script.ts'

it('Servers start at the same time in folders of any name, in which they have their temporary files', async () => {
  const folders = await Promise.all(
    ['my site', 'ünï', 'plain'].map(async (name) => {
      const directory = join(await stateDirectory(), name)
      const server = await startDatabaseServer({ directory, say: () => {} })
      onTestFinished(() => server.stop())
      const connection = await mysql.createConnection({ uri: server.url })
      const [rows] = await connection.query<RowDataPacket[]>('SELECT @@tmpdir AS folder')
      await connection.end()
      return { folder: rows[0]!.folder, expected: join(directory, 'tmp') }
    }),
  )
  for (const { folder, expected } of folders) expect(folder).toBe(expected)
})

it('A server that cannot start with its data says why and what to do', async () => {
  const directory = await stateDirectory()
  const options = { directory, say: () => {} }
  await (await startDatabaseServer(options)).stop()
  await truncate(join(directory, 'data/ibdata1'), 16_384)
  const message = await startDatabaseServer(options).then(
    (server) => server.stop().then(() => 'started'),
    (error: Error) => error.message,
  )
  expect(message).toMatch(/did not start .* From \S+server\.log:\n(.*\[ERROR\].*\n)+If this happens at every start/)
  expect(message).toContain(`Move ${directory} away`)
})

it('A private database starts beside records that were cut off, and puts a large log aside', async () => {
  const directory = await stateDirectory()
  const log = join(directory, 'database/server.log')
  await mkdir(join(directory, 'database'))
  await writeFile(log, 'x'.repeat(1_000_001))
  await writeFile(join(directory, 'database/database.pid.json'), '{"pid":')
  await writeFile(join(directory, 'endpoint.json'), '')
  const database = await startLocalDatabase({ stateDirectory: directory, say: () => {} })
  onTestFinished(() => database.stop())
  expect((await stat(`${log}.1`)).size).toBe(1_000_001)
  expect((await stat(log)).size).toBeLessThan(1_000_000)
  expect(JSON.parse(await readFile(join(directory, 'endpoint.json'), 'utf8'))).toMatchObject({
    port: database.endpoint.port,
  })
})
