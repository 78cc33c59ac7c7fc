import { expect, it } from 'vitest'
import { startDatabaseServer } from '../../../local/database/database-server.ts'

it.each(['https://user:password@host', 'postgres://user:password@host', '127.0.0.1:3306', 'host'])(
  'MYSQL_URL cannot be %s, and the message shows its form',
  async (mysqlUrl) => {
    const start = startDatabaseServer({ directory: '/nowhere', mysqlUrl, say: () => {} })
    await expect(start).rejects.toThrow('MYSQL_URL must be of the form mysql://USER:PASSWORD@HOST:PORT[/DATABASE].')
  },
)
