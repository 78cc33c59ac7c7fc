import { BoundedMap } from './bounded-map.ts'
import { readConfig } from './config/config.ts'
import { type Bindings, ConfigurationError } from './config/read-settings.ts'
import { AddressCache } from './counters/keys/key-address.ts'
import { Keys } from './counters/keys/keys.ts'
import { KeptAnswers } from './counters/read/kept-answers.ts'
import { Reads } from './counters/read/reads.ts'
import { type RollUpSummary, rollUp } from './counters/rollup/roll-up.ts'
import { CommitByRange } from './counters/write/group-commit.ts'
import { type Database, openDatabase } from './database/database.ts'
import { DatabaseFailure } from './database/errors.ts'
import { CircuitBreaker, withBreaker, withRetries } from './database/retry-and-breaker.ts'
import type { HitReason } from './hit-reasons.ts'
import { log, RefusedRequests } from './log.ts'
import { TokenList } from './tokens.ts'
import { Bots } from './visits/bots.ts'
import { NewKeyAllowance, TokenAttempts } from './visits/rate-limit.ts'
import { Salts } from './visits/salts.ts'
import { Visitors } from './visits/visitors.ts'

/** The time-out of one attempt at a statement of a request. A statement is given up within twice that. */
const STATEMENT_DEADLINE_MS = 3_000
/** The time-out of a statement of a change: it may move 50,000 rows. Its transaction may take 20 s on PlanetScale. */
const CHANGE_DEADLINE_MS = 10_000
/** The time-out of a statement of a background run. No client waits for it, and its pages are larger than a request's. */
const BACKGROUND_DEADLINE_MS = 20_000

type Settings = ReturnType<typeof readConfig>

/** What an isolate keeps between requests: plain data, never a promise or a connection of one of them. */
export type Isolate = ReturnType<typeof makeIsolate>

// The platform passes the same object to every request of an isolate.
const isolates = new WeakMap<Bindings, Isolate>()

/** The isolate's services, created on its first request. */
export function isolateOf(bindings: Bindings): Isolate {
  let isolate = isolates.get(bindings)
  if (isolate === undefined) {
    const settings = readConfig(bindings)
    if (settings.mistakes.length > 0) log('error', 'wrong_settings', { settings: settings.mistakes })
    isolate = makeIsolate(settings)
    isolates.set(bindings, isolate)
  }
  return isolate
}

/** Without retries: background runs retry by themselves, and their budgets count every statement. */
export function openBackgroundDatabase(settings: Settings): Database {
  return openConfigured(settings, BACKGROUND_DEADLINE_MS)
}

/** Rolls up with the budgets of the plan. */
export function rollUpNow(isolate: Isolate, at: Date): Promise<RollUpSummary> {
  const work = rollUp(openBackgroundDatabase(isolate), { ...isolate.config.rollUp, at })
  return work.finally(() => isolate.reads.forget())
}

/** The database of the settings. While they name none, every statement is refused, and the error says why. */
export function openConfigured({ config: { databaseUrl: url, ranges }, mistakes }: Settings, deadlineMs: number) {
  if (url !== null) return openDatabase({ url, deadlineMs, ranges })
  const refuse = async () => {
    throw new DatabaseFailure({ kind: 'credentials', retry: false, applied: 'no' }, new ConfigurationError(mistakes))
  }
  return { ranges, execute: refuse, transaction: refuse }
}

function makeIsolate(settings: Settings) {
  const { config } = settings
  const { batches } = config
  const deadlineMs = STATEMENT_DEADLINE_MS
  const database = openConfigured(settings, deadlineMs)
  const writing = behindBreakers(database)
  // Other breakers: a slow reading is no outage.
  const reading = behindBreakers(database)
  const types = [...config.types.values()]
  const also = new Map(types.flatMap((type) => (type.also.length === 0 ? [] : [[type.recordType, type.also]])))
  const rules = new Map(types.map((type) => [type.recordType, type]))
  return {
    ...settings,
    readDb: withRetries(reading.everywhere),
    /** Those of hits and increments, one for each range. */
    breakers: writing.breakers.slice(1),
    keys: new Keys(writing.dbs, { rules, also, hasQueue: batches !== null, deadlineMs }),
    counting: new CommitByRange(writing.dbs, {
      deadlineMs,
      classicSlots: new Map(types.flatMap(({ recordType, slots }) => (slots === null ? [] : [[recordType, slots]]))),
      idempotencyHours: config.pruning.idempotencyHours,
      queue: batches,
    }),
    reads: new Reads(reading.dbs, reading.everywhere, deadlineMs),
    /** What takes many rows to read. */
    kept: new KeptAnswers(),
    /** Apart, because strangers may ask for any number of names. */
    latestFiles: new KeptAnswers(),
    /** For changes of counters, which retry by themselves. */
    changeDb: withRetries(openConfigured(settings, CHANGE_DEADLINE_MS)),
    addresses: new AddressCache(),
    visitors: new Visitors(new Salts(withRetries(writing.everywhere), config.longestWindow)),
    bots: new Bots(),
    /** The latest one of each type, by its name, for owners who wonder why nothing is counted. */
    ignoredHits: new Map<string, { reason: HitReason; origin: string | null }>(),
    refused: new RefusedRequests(),
    tokens: new TokenList(config),
    tokenAttempts: new TokenAttempts(),
    newKeys: new NewKeyAllowance(config.newKeyLimit),
    /** The counts that counting badges showed last, by counter and period. */
    shownCounts: new BoundedMap<bigint>(1_000),
  }
}

/** A database for each range, and one that reaches all shards, with a breaker each: an unavailable shard does not hold up the others. */
function behindBreakers(database: Database) {
  const breakers = Array.from({ length: database.ranges + 1 }, () => new CircuitBreaker())
  const [everywhere, ...dbs] = breakers.map((breaker) => withBreaker(database, breaker)) as [Database, ...Database[]]
  return { breakers, everywhere, dbs }
}
