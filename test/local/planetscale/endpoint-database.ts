import { Client } from '@planetscale/database'
import mysql, { type Connection } from 'mysql2/promise'
import { inject, onTestFinished } from 'vitest'
import { PlanetScaleEndpoint } from '../../../local/planetscale/endpoint.ts'
import type { Behaviour, RecordedStatement } from '../../../local/planetscale/fault-injection.ts'
import type { WireError } from '../../../local/planetscale/vitess-error.ts'
import type { WireResult } from '../../../local/planetscale/wire-result.ts'
import { takeDatabase } from '../../harness/taken-databases.ts'

/** A session on the wire. */
export interface RawSession {
  signature: string
  vitessSession: Record<string, unknown> & {
    SessionUUID: string
    inTransaction?: boolean
    shardSessions?: { transactionId: string }[]
  }
}

/** A response on the wire, before the driver reads it. */
export interface RawAnswer {
  status: number
  headers: Headers
  body: { session?: RawSession; result?: WireResult; error?: WireError; timing?: number }
}

/** A database behind an endpoint. */
export interface EndpointDatabase {
  name: string
  url: string
  client: Client
  /** Sends any request, even one that the driver cannot send. */
  send(path: string, init?: RequestInit): Promise<RawAnswer>
  /** Runs a statement in a given session. */
  execute(query: string, session?: RawSession | null): Promise<RawAnswer>
  /** Begins a transaction with its first statement, and returns the session. */
  begin(first: string): Promise<RawSession>
  behave(behaviour: Partial<Behaviour>): Promise<Behaviour>
  recorded(): Promise<RecordedStatement[]>
  /** The value of a query with one row and one column. */
  value(sql: string): Promise<unknown>
}

/** Creates an empty database behind the endpoint of the test run, or behind another one. */
export async function emptyDatabase(endpoint?: PlanetScaleEndpoint): Promise<EndpointDatabase> {
  const { name, databaseUrl } = await takeDatabase({ empty: true })
  return databaseAt(name, endpoint?.urlOf(name) ?? databaseUrl)
}

/** Creates a database with counters 1 to 10, all at zero. */
export async function countersDatabase(): Promise<EndpointDatabase> {
  const db = await emptyDatabase()
  await db.client.execute('CREATE TABLE counters (id INT PRIMARY KEY, count BIGINT NOT NULL)')
  await db.client.execute(`INSERT INTO counters VALUES ${Array.from({ length: 10 }, (_, i) => `(${i + 1}, 0)`).join()}`)
  return db
}

/** Creates a database with three things, one without a name. */
export async function thingsDatabase(): Promise<EndpointDatabase> {
  const db = await emptyDatabase()
  await db.client.execute('CREATE TABLE things (id BIGINT PRIMARY KEY, name VARCHAR(50))')
  await db.client.execute(`INSERT INTO things VALUES (1, 'one'), (2, NULL), (3, '')`)
  return db
}

/** The path of the API to which statements are sent. */
export const EXECUTE = '/psdb.v1alpha1.Database/Execute'

/** A statement that adds to a counter. */
export const add = (id: number, by = 1) => `UPDATE counters SET count = count + ${by} WHERE id = ${id}`

/** The value of a counter. */
export const countOf = (db: EndpointDatabase, id: number) => db.value(`SELECT count FROM counters WHERE id = ${id}`)

/** The sum of all counters. */
export const sumOf = (db: EndpointDatabase) => db.value('SELECT SUM(count) FROM counters')

/** A database behind an endpoint, by its URL there. */
export function databaseAt(name: string, url: string): EndpointDatabase {
  const { username, password, origin } = new URL(url)
  const authorization = `Basic ${btoa(`${username}:${password}`)}`
  const client = new Client({ url })
  const send = async (path: string, init: RequestInit = {}): Promise<RawAnswer> => {
    const headers = { Authorization: authorization, 'Content-Type': 'application/json' }
    const response = await fetch(`${origin}${path}`, { method: 'POST', headers, ...init })
    return { status: response.status, headers: response.headers, body: (await response.json()) as RawAnswer['body'] }
  }
  const execute = (query: string, session: RawSession | null = null) =>
    send(EXECUTE, { body: JSON.stringify({ query, session }) })
  return {
    name,
    url,
    client,
    send,
    execute,
    async begin(first) {
      return (await execute(first, (await execute('BEGIN')).body.session)).body.session!
    },
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

/** Starts an endpoint for one test. */
export async function ownEndpoint(password: string): Promise<PlanetScaleEndpoint> {
  const endpoint = new PlanetScaleEndpoint({ mysqlUrl: inject('mysqlUrl'), password })
  await endpoint.listen()
  onTestFinished(() => endpoint.close())
  return endpoint
}

/** Connects to the server without the endpoint, for locks that the endpoint does not know about. */
export async function directConnection(database: string): Promise<Connection> {
  return mysql.createConnection({ uri: inject('mysqlUrl'), database })
}

/** The error with which a promise is rejected. Throws if it is fulfilled. */
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
