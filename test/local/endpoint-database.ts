import { Client } from '@planetscale/database'
import mysql, { type Connection } from 'mysql2/promise'
import { inject, onTestFinished } from 'vitest'
import type { Behaviour, RecordedStatement } from '../../local/planetscale/behaviour.ts'
import { PlanetScaleEndpoint } from '../../local/planetscale/endpoint.ts'
import type { WireError } from '../../local/planetscale/vitess-error.ts'
import type { WireResult } from '../../local/planetscale/wire.ts'

/** A session as it goes over the wire. */
export interface RawSession {
  signature: string
  vitessSession: Record<string, unknown> & {
    SessionUUID: string
    inTransaction?: boolean
    shardSessions?: { transactionId: string }[]
  }
}

/** An answer as it goes over the wire, before the driver has read it. */
export interface RawAnswer {
  status: number
  headers: Headers
  body: { session?: RawSession; result?: WireResult; error?: WireError; timing?: number }
}

/** An empty database and the ways to it. */
export interface EndpointDatabase {
  name: string
  url: string
  client: Client
  /** What the driver cannot send: anything, to any path, as anybody. */
  send(path: string, init?: RequestInit): Promise<RawAnswer>
  /** One statement in a session of the test's choice. */
  execute(query: string, session?: RawSession | null): Promise<RawAnswer>
  behave(behaviour: Partial<Behaviour>): Promise<Behaviour>
  recorded(): Promise<RecordedStatement[]>
  /** The only column of the only row. */
  value(sql: string): Promise<unknown>
}

/** An empty database behind the endpoint of the test run, or behind another one. */
export async function emptyDatabase(endpoint?: PlanetScaleEndpoint): Promise<EndpointDatabase> {
  const response = await fetch(inject('databases'), { method: 'POST' })
  if (!response.ok) throw new Error(await response.text())
  const { name, databaseUrl } = (await response.json()) as { name: string; databaseUrl: string }
  return databaseAt(name, endpoint?.urlOf(name) ?? databaseUrl)
}

/** A database with counters 1 to 10, all at zero. */
export async function countersDatabase(): Promise<EndpointDatabase> {
  const db = await emptyDatabase()
  await db.client.execute('CREATE TABLE counters (id INT PRIMARY KEY, count BIGINT NOT NULL)')
  await db.client.execute(`INSERT INTO counters VALUES ${Array.from({ length: 10 }, (_, i) => `(${i + 1}, 0)`).join()}`)
  return db
}

/** The statement that adds to a counter. */
export const add = (id: number, by = 1) => `UPDATE counters SET count = count + ${by} WHERE id = ${id}`

/** What a counter is at. */
export const countOf = (db: EndpointDatabase, id: number) => db.value(`SELECT count FROM counters WHERE id = ${id}`)

/** What all counters are at together. */
export const sumOf = (db: EndpointDatabase) => db.value('SELECT SUM(count) FROM counters')

function databaseAt(name: string, url: string): EndpointDatabase {
  const { username, password, origin } = new URL(url)
  const authorization = `Basic ${btoa(`${username}:${password}`)}`
  const client = new Client({ url })
  const send = async (path: string, init: RequestInit = {}): Promise<RawAnswer> => {
    const headers = { Authorization: authorization, 'Content-Type': 'application/json' }
    const response = await fetch(`${origin}${path}`, { method: 'POST', headers, ...init })
    return { status: response.status, headers: response.headers, body: (await response.json()) as RawAnswer['body'] }
  }
  return {
    name,
    url,
    client,
    send,
    execute: (query, session = null) =>
      send('/psdb.v1alpha1.Database/Execute', { body: JSON.stringify({ query, session }) }),
    async behave(behaviour) {
      const { body } = await send('/local/behaviour', { method: 'PUT', body: JSON.stringify(behaviour) })
      return body as unknown as Behaviour
    },
    async recorded() {
      const { body } = await send('/local/statements', { method: 'GET' })
      return body as unknown as RecordedStatement[]
    },
    async value(sql) {
      const { rows } = await client.execute(sql, null, { as: 'array' })
      if (rows.length !== 1) throw new Error(`${sql} has ${rows.length} rows`)
      return (rows as unknown[][])[0]![0]
    },
  }
}

/** An endpoint of one test's own, closed with it. */
export async function ownEndpoint(password: string): Promise<PlanetScaleEndpoint> {
  const endpoint = new PlanetScaleEndpoint({ mysqlUrl: inject('mysqlUrl'), password })
  await endpoint.listen()
  onTestFinished(() => endpoint.close())
  return endpoint
}

/** A connection to the server itself, past the endpoint: for locks that the endpoint knows nothing about. */
export async function directConnection(database: string): Promise<Connection> {
  return mysql.createConnection({ uri: inject('mysqlUrl'), database })
}

/** What a promise was rejected with; an error of its own if it was not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const value = await promise.then(
    (value) => value,
    (error: unknown) => ({ error }),
  )
  if (typeof value === 'object' && value !== null && Object.keys(value).join() === 'error') {
    return (value as { error: unknown }).error
  }
  throw new Error(`expected a rejection, got ${JSON.stringify(value)}`)
}
