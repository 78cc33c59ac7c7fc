import { type Config, readConfig } from './config.ts'
import type { CountingContext } from './counters/count.ts'
import { StoredNames } from './counters/names.ts'
import { SlotPool } from './counters/slots.ts'
import { type Database, openDatabase } from './database/database.ts'
import { withRetries } from './database/retry.ts'
import type { Env } from './env.ts'

/** Milliseconds one attempt at a statement of a request may take; a statement is given up within twice that. */
const STATEMENT_DEADLINE_MS = 4_000

/** What an isolate keeps from request to request: plain data, never a promise or a connection of one of them. */
export interface Isolate {
  config: Config
  db: Database
  counting: CountingContext
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
  const config = readConfig(env)
  const db = withRetries(openDatabase({ url: config.databaseUrl, deadlineMs: STATEMENT_DEADLINE_MS }))
  const classicSlots = new Map<number, number>()
  for (const { recordType, slots } of config.types.values()) if (slots !== null) classicSlots.set(recordType, slots)
  const counting = { db, classicSlots, slots: new SlotPool(), names: new StoredNames() }
  const isolate = { config, db, counting }
  isolates.set(env, isolate)
  return isolate
}
