import { type Config, readConfig } from './config.ts'
import { batchQueue } from './counters/batch-queue.ts'
import { GroupCommit } from './counters/group-commit.ts'
import { KeptTotals } from './counters/kept-totals.ts'
import { KnownCounters } from './counters/known-counters.ts'
import { StoredNames } from './counters/names.ts'
import { SharedReads } from './counters/shared-reads.ts'
import { SlotPool } from './counters/slots.ts'
import { Visitors } from './counters/visitors.ts'
import { CircuitBreaker, withBreaker } from './database/circuit-breaker.ts'
import { type Database, openDatabase } from './database/database.ts'
import { withRetries } from './database/retry.ts'
import type { Env } from './env.ts'
import { Bots } from './visits/bots.ts'

/** Milliseconds one attempt at a statement of a request may take; a statement is given up within twice that. */
const STATEMENT_DEADLINE_MS = 3_000

/** How requests read counters. */
export interface Reads {
  exact: SharedReads
  rolled: KeptTotals
}

/** What an isolate keeps from request to request: plain data, never a promise or a connection of one of them. */
export interface Isolate {
  config: Config
  db: Database
  breaker: CircuitBreaker
  counting: GroupCommit
  reads: Reads
  known: KnownCounters
  visitors: Visitors
  bots: Bots
}

// By the bindings: the platform hands every request of an isolate the same ones.
const isolates = new WeakMap<Env, Isolate>()

/**
 * The isolate's own things, made on its first request.
 *
 * @throws {ConfigurationError} on every request until the settings are right
 */
export function isolateOf(env: Env): Isolate {
  const known = isolates.get(env)
  if (known !== undefined) return known
  const isolate = makeIsolate(readConfig(env))
  isolates.set(env, isolate)
  return isolate
}

function makeIsolate(config: Config): Isolate {
  const asked = openDatabase({ url: config.databaseUrl, deadlineMs: STATEMENT_DEADLINE_MS })
  const breaker = new CircuitBreaker()
  const attempts = withBreaker(asked, breaker)
  const classicSlots = new Map<number, number>()
  for (const { recordType, slots } of config.types.values()) if (slots !== null) classicSlots.set(recordType, slots)
  const counting = new GroupCommit({
    db: attempts,
    deadlineMs: STATEMENT_DEADLINE_MS,
    classicSlots,
    slots: new SlotPool(),
    names: new StoredNames(),
    queue: config.batches && batchQueue(config.batches),
  })
  const readingAt = (consistency: 'exact' | 'rolled') =>
    new SharedReads(attempts, { deadlineMs: STATEMENT_DEADLINE_MS, consistency })
  return {
    config,
    db: withRetries(attempts),
    breaker,
    counting,
    reads: { exact: readingAt('exact'), rolled: new KeptTotals(readingAt('rolled')) },
    known: new KnownCounters(),
    visitors: new Visitors(config.apiToken),
    bots: new Bots(),
  }
}
