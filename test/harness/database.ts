import { inject } from 'vitest'
import type { Behaviour, RecordedStatement } from '../../local/planetscale/behaviour.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { toBigInt } from '../../src/database/numbers.ts'

/** A database of one test's own, on the real server, through the real driver and the endpoint. */
export interface TestDatabase extends Database {
  name: string
  url: string
  /** Makes the endpoint slow or faulty for this database; without arguments, normal again. */
  behave(behaviour?: Partial<Behaviour>): Promise<void>
  /** Runs something and tells which statements it sent, and what the server read for each. */
  recording(work: () => Promise<unknown>): Promise<RecordedStatement[]>
  /** One number from the database. */
  number(sql: string, args?: readonly unknown[]): Promise<bigint>
}

/** Makes a database with all tables. It is removed when the test run ends. */
export async function freshDatabase(): Promise<TestDatabase> {
  const response = await fetch(`${inject('databases')}?migrate`, { method: 'POST' })
  if (!response.ok) throw new Error(await response.text())
  const { name, databaseUrl } = (await response.json()) as { name: string; databaseUrl: string }
  const database = openDatabase({ url: databaseUrl, deadlineMs: 60_000 })
  const { username, password, origin } = new URL(databaseUrl)
  const headers = { Authorization: `Basic ${btoa(`${username}:${password}`)}`, 'Content-Type': 'application/json' }
  const local = async (path: string, method: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(`${origin}/local/${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return answer.json()
  }
  return {
    ...database,
    name,
    url: databaseUrl,
    async behave(behaviour = {}) {
      await local('behaviour', 'PUT', behaviour)
    },
    async recording(work) {
      await local('behaviour', 'PUT', { record: true })
      await local('statements', 'DELETE')
      try {
        await work()
        return (await local('statements', 'GET')) as RecordedStatement[]
      } finally {
        await local('behaviour', 'PUT', {})
      }
    },
    async number(sql, args) {
      const { rows } = await database.execute(sql, args)
      return toBigInt(Object.values(rows[0]!)[0])
    },
  }
}
