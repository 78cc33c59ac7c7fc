import { inject, onTestFinished } from 'vitest'
import type { Behaviour, Fault } from '../../local/planetscale/behaviour.ts'
import { type RollUpSummary, rollUp } from '../../src/counters/rollup.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'

/** A database behind an endpoint that can be told to fail. */
export interface FaultyDatabase extends Database {
  name: string
  /** The endpoint's, for a Worker. */
  url: string
  /** The server's own, past the endpoint. */
  mysqlUrl: string
  /** Makes the endpoint slow or faulty; without arguments, normal again. */
  behave(behaviour?: Partial<Behaviour>): Promise<void>
  /** How often its faults are still going to strike. */
  strikesLeft(): Promise<number>
}

/** A database with all tables, on the server of the test run. */
export async function freshDatabase(): Promise<FaultyDatabase> {
  const response = await fetch(`${inject('databases')}?migrate`, { method: 'POST' })
  if (!response.ok) throw new Error(await response.text())
  const { name, databaseUrl } = (await response.json()) as { name: string; databaseUrl: string }
  const db = databaseAt(name, databaseUrl, inject('mysqlUrl'))
  onTestFinished(() => db.behave())
  return db
}

export function databaseAt(name: string, url: string, mysqlUrl: string): FaultyDatabase {
  const { username, password, origin } = new URL(url)
  const headers = { Authorization: `Basic ${btoa(`${username}:${password}`)}`, 'Content-Type': 'application/json' }
  const local = async (method: string, body?: unknown): Promise<Behaviour> => {
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const answer = await fetch(`${origin}/local/behaviour`, init)
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as Behaviour
  }
  return {
    ...openDatabase({ url, deadlineMs: 60_000 }),
    name,
    url,
    mysqlUrl,
    async behave(behaviour = {}) {
      await local('PUT', behaviour)
    },
    async strikesLeft() {
      const { faults } = await local('GET')
      return faults.reduce((sum, { times = 1 }) => sum + times, 0)
    },
  }
}

/** A fault so many times in a row, then so many, and so on, with statements that go through in between. */
export function nowAndThen(fault: Fault, inARow: readonly number[]): Fault[] {
  return inARow.map((times, i) => ({ ...fault, skip: 4 + 4 * i, times }))
}

/** One roll-up beside whatever others are running, in pages of so many slots. */
export function rollUpBeside(db: Database, pageSlots: number): Promise<RollUpSummary> {
  return rollUp(db, { pageSlots, maxStatements: 1_000, maxSeconds: 20, at: new Date(), lease: false })
}

/**
 * Rolls up until nothing is pending.
 *
 * @throws {Error} if it does not end
 */
export async function rollUpAll(db: Database): Promise<void> {
  for (let runs = 0; runs < 20; runs++) {
    const { outcome, left } = await rollUpBeside(db, 2_000)
    if (outcome === 'complete' && left === 0) return
  }
  throw new Error('roll-ups leave something pending')
}
