import { inject, onTestFinished } from 'vitest'
import type { Behaviour, Fault } from '../../local/planetscale/fault-injection.ts'
import { type RollUpSummary, rollUp } from '../../src/counters/rollup/roll-up.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { askEndpoint, behave } from '../harness/behave.ts'
import { takeDatabase } from '../harness/taken-databases.ts'

/** A database behind an endpoint that can be told to fail. */
export interface FaultyDatabase extends Database {
  name: string
  /** The URL of the endpoint, for a Worker. */
  url: string
  /** The URL of the server that runs the statements. */
  mysqlUrl: string
  /** Makes the endpoint slow or faulty. Without arguments, makes it normal again. */
  behave(behaviour?: Partial<Behaviour>): Promise<void>
  /** How often the injected faults have yet to strike. */
  strikesLeft(): Promise<number>
}

/** Takes a database with all tables for the current test, on the server of the test run. */
export async function freshDatabase(): Promise<FaultyDatabase> {
  const { name, databaseUrl } = await takeDatabase()
  const db = databaseAt(name, databaseUrl, inject('backendUrl'))
  onTestFinished(() => db.behave())
  return db
}

export function databaseAt(name: string, url: string, mysqlUrl: string): FaultyDatabase {
  return {
    ...openDatabase({ url, deadlineMs: 60_000, ranges: inject('ranges') }),
    name,
    url,
    mysqlUrl,
    behave: (behaviour = {}) => behave(url, behaviour),
    async strikesLeft() {
      const { faults } = (await askEndpoint(url, 'behaviour', 'GET')) as Behaviour
      return faults.reduce((sum, { times = 1 }) => sum + times, 0)
    },
  }
}

/** A fault that strikes `inARow[0]` times in a row, then `inARow[1]` times, and so on, with successes in between. */
export function nowAndThen(fault: Fault, inARow: readonly number[]): Fault[] {
  return inARow.map((times, i) => ({ ...fault, skip: 4 + 4 * i, times }))
}

/** Rolls up without a lease, beside other roll-ups, as an isolate that has just started. */
export function rollUpBeside(db: Database, pageSlots: number): Promise<RollUpSummary> {
  const options = { pageSlots, maxStatements: 1_000, maxSeconds: 20, at: new Date(), lease: false }
  return rollUp(db, options)
}

/**
 * Rolls up until nothing is pending.
 *
 * @throws {Error} if that takes more than 20 runs
 */
export async function rollUpAll(db: Database): Promise<void> {
  for (let runs = 0; runs < 20; runs++) {
    const { outcome, left } = await rollUpBeside(db, 2_000)
    if (outcome === 'complete' && left === 0) return
  }
  throw new Error('something is still pending after 20 roll-ups')
}
