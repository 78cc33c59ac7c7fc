import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import mysql, { type RowDataPacket } from 'mysql2/promise'
import { expect, it, onTestFinished } from 'vitest'
import { startDatabaseServer } from '../../../local/database/database-server.ts'
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
