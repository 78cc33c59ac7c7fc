// Serves databases to the tests, in a process of its own. On a busy machine, vitest's main process can stand still for seconds while it
// starts test files, and statements would time out. Exits with its parent.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CreatedDatabases } from './created-databases.ts'
import { KeyspacePool } from './keyspace-pool.ts'

const url = process.env.DATABASE_SERVER!
const [description, keep] = process.argv.slice(2) as [string, string]
const keyspaces = await KeyspacePool.open(url)
const databases = keyspaces ?? (await CreatedDatabases.open(url, description, { keep: keep === 'true' }))

const control = createServer(async (request, response) => {
  try {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
    if (request.method === 'DELETE') await databases.giveBack(decodeURIComponent(pathname.slice(1)))
    const taken = request.method === 'POST' && (await databases.take({ migrated: searchParams.has('migrate') }))
    response.end(JSON.stringify(taken))
  } catch (error) {
    response.writeHead(500).end(String(error))
  }
})
// As in the endpoint: a test file that is kept waiting for seconds would reuse a connection that has been closed.
control.keepAliveTimeout = 120_000
await once(control.listen(0, '127.0.0.1'), 'listening')

process.on('disconnect', () => process.exit(1))
process.once('message', async () => {
  control.closeAllConnections()
  control.close()
  await databases.close()
  process.exit(0)
})
const { description: on, ranges } = databases
const { port } = control.address() as AddressInfo
process.send!({ databases: `http://127.0.0.1:${port}/`, description: on, ranges, onVitess: keyspaces !== null })
