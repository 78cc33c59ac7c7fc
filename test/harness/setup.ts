import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import type { TestProject } from 'vitest/node'
import { startDatabaseServer } from '../../local/database-server.ts'
import { migrate } from '../../local/migrations.ts'
import { PlanetScaleEndpoint } from '../../local/planetscale/endpoint.ts'

/** Starts a throw-away database server (or takes MYSQL_URL) and the endpoint, and removes what the tests made. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'slotted-counter-test-'))
  const say = (line: string) => console.log(line)
  const server = await startDatabaseServer({
    directory: join(directory, 'database'),
    mysqlUrl: process.env.MYSQL_URL,
    say,
  })
  say(`Testing on ${server.description}`)
  const endpoint = new PlanetScaleEndpoint({ mysqlUrl: server.url, password: 'test' })
  await endpoint.listen()
  const connection = await mysql.createConnection({ uri: server.url })
  const made: string[] = []
  const run = `${process.pid}_${Date.now().toString(36)}`

  const control = createServer(async (request, response) => {
    try {
      const name = `slotted_test_${run}_${made.length}`
      made.push(name)
      await connection.query(`CREATE DATABASE \`${name}\``)
      const databaseUrl = endpoint.urlOf(name)
      if (request.url?.includes('migrate')) await migrate({ databaseUrl, say: () => {} })
      response.end(JSON.stringify({ name, databaseUrl }))
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve))

  project.provide('databases', `http://127.0.0.1:${(control.address() as AddressInfo).port}/`)
  project.provide('mysqlUrl', server.url)

  project.provide('scratch', directory)

  const tearDown = async () => {
    control.closeAllConnections()
    control.close()
    await endpoint.close()
    for (const name of made) await connection.query(`DROP DATABASE IF EXISTS \`${name}\``)
    await connection.end()
    await server.stop()
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 })
  }
  // Interrupted, the runner would end a millisecond later, without its teardown.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.removeAllListeners(signal).once(signal, () => void tearDown().finally(() => process.exit(130)))
  }
  return tearDown
}
