import { join } from 'node:path'
import mysql, { type RowDataPacket } from 'mysql2/promise'
import { expect, it, onTestFinished } from 'vitest'
import { startDatabaseServer } from '../../../local/database/database-server.ts'
import { stateDirectory } from '../npm-script.ts'

it('Servers that start at the same time have folders of their own for temporary files', async () => {
  const folders = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const directory = await stateDirectory()
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
