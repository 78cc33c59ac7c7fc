import { BoundedMap } from './bounded-map.ts'
import type { Bindings } from './config/bindings.ts'
import { companionsOf } from './config/companions.ts'
import { type Config, readConfig } from './config/config.ts'
import { ConfigurationError } from './config/mistakes.ts'
import { MAX_PENDING, MAX_PUBLIC_PENDING } from './counters/counters-sql.ts'
import { AddressCache, type CounterAddress } from './counters/keys/counter-address.ts'
import { Keys } from './counters/keys/keys.ts'
import { NewKeyBudgets } from './counters/keys/new-key-budgets.ts'
import { MAX_PUBLIC_ROWS, type SumOf, TooManyKeys } from './counters/keys/prefix.ts'
import type { TotalsStore } from './counters/ledger/totals.ts'
import { KeptAnswers } from './counters/read/kept-answers.ts'
import { type Consistency, MAX_READ, readCounters } from './counters/read/read-counters.ts'
import {
  MAX_PENDING_OF_TYPE,
  MAX_PUBLIC_PENDING_OF_TYPE,
  readSum,
  type SumOptions,
  type SumReading,
} from './counters/read/read-sum.ts'
import { MAX_RECENT, type RecentPeriod, readRecentPeriod } from './counters/read/recent-period.ts'
import { loadOf, ReadsByRange, RolledCache, SharedReads } from './counters/read/shared-reads.ts'
import { CommitByRange } from './counters/write/commit-by-range.ts'
import { SlotPool } from './counters/write/flush-group.ts'
import { GroupCommit } from './counters/write/group-commit.ts'
import { keptHours } from './counters/write/kept-hours.ts'
import { batchQueue } from './counters/write/queue.ts'
import { type Database, type Executor, openDatabase } from './database/database.ts'
import { DatabaseFailure } from './database/errors.ts'
import { CircuitBreaker, retrying, withBreaker, withRetries } from './database/retry-and-breaker.ts'
import { LatestIgnoredHits } from './hit-reasons.ts'
import { log } from './log.ts'
import type { FieldError } from './schemas.ts'
import { TokenList } from './token-list.ts'
import { Bots } from './visits/bots.ts'
import { NewKeyAllowance, TokenAttempts } from './visits/rate-limit.ts'
import { Salts, Visitors } from './visits/visitors.ts'

/** The time-out of one attempt at a statement of a request. A statement is given up within twice that. */
const STATEMENT_DEADLINE_MS = 3_000
/** The time-out of a statement of a change: it may move 50,000 rows. Its transaction may take 20 s on PlanetScale. */
const CHANGE_DEADLINE_MS = 10_000
/** The time-out of a statement of a background run. No client waits for it, and its pages are larger than a request's. */
const BACKGROUND_DEADLINE_MS = 20_000

/** Counts in one generation of `shownCounts`; it holds two. */
const MAX_SHOWN_COUNTS = 1_000

/** Different sums of types and prefixes that one group of requests reads. */
const MAX_SUMS = 12
/** How many of them are read at once, each with a statement or two. */
const SUMS_AT_ONCE = 3
/** Up to so many counters may each have their share of `MAX_PUBLIC_PENDING` slots. Of more, each may have 20. */
export const FEW = 10
const LEAST_PUBLIC_PENDING = 20

/** What an isolate keeps between requests: plain data, never a promise or a connection of one of them. */
export type Isolate = ReturnType<typeof makeIsolate>

// The platform passes the same object to every request of an isolate.
const isolates = new WeakMap<Bindings, Isolate>()

/** The isolate's services, created on its first request. */
export function isolateOf(bindings: Bindings): Isolate {
  let isolate = isolates.get(bindings)
  if (isolate === undefined) {
    const { config, mistakes } = readConfig(bindings)
    if (mistakes.length > 0) log('error', 'wrong_settings', { settings: mistakes })
    isolate = makeIsolate(config, mistakes)
    isolates.set(bindings, isolate)
  }
  return isolate
}

/** Without retries: background runs retry by themselves, and their budgets count every statement. */
export function openBackgroundDatabase(isolate: Pick<Isolate, 'config' | 'mistakes'>): Database {
  return openConfigured(isolate, BACKGROUND_DEADLINE_MS)
}

/** The database of the settings. While they name none, every statement is refused, and the error says why. */
export function openConfigured(
  { config: { databaseUrl: url, ranges }, mistakes }: Pick<Isolate, 'config' | 'mistakes'>,
  deadlineMs: number,
): Database {
  if (url !== null) return openDatabase({ url, deadlineMs, ranges })
  const refuse = async () => {
    throw new DatabaseFailure({ kind: 'credentials', retry: false, applied: 'no' }, new ConfigurationError(mistakes))
  }
  return { ranges, execute: refuse, transaction: refuse }
}

function makeIsolate(config: Config, mistakes: readonly FieldError[]) {
  const { batches } = config
  const database = openConfigured({ config, mistakes }, STATEMENT_DEADLINE_MS)
  const writing = behindBreakers(database)
  const reading = behindBreakers(database)
  const db = withRetries(writing.everywhere)
  const types = [...config.types.values()]
  const classicSlots = new Map(types.flatMap(({ recordType, slots }) => (slots === null ? [] : [[recordType, slots]])))
  const withAlso = types.filter(({ also }) => also !== null)
  const also = new Map(withAlso.map((type) => [type.recordType, companionsOf(type, types)]))
  const commits = writing.dbs.map(
    (db) =>
      new GroupCommit({
        db,
        deadlineMs: STATEMENT_DEADLINE_MS,
        classicSlots,
        slots: new SlotPool(),
        keptHours: keptHours(config.pruning.idempotencyHours),
        queue: batches && batchQueue(batches),
      }),
  )
  const reads = makeReads(reading)
  const changes: TotalsStore = {
    db: withRetries(openConfigured({ config, mistakes }, CHANGE_DEADLINE_MS)),
    cache: reads.rolled,
  }
  return {
    config,
    /** What is wrong in the settings. */
    mistakes,
    /** For everything that writes, and what it reads first. */
    db,
    /** For reading. Its breakers are others: a slow reading is no outage. */
    readDb: withRetries(reading.everywhere),
    /** Those of what writes. */
    breakers: writing.breakers,
    keys: new Keys({
      rules: new Map(types.map((type) => [type.recordType, type])),
      also,
      budgets: new NewKeyBudgets(writing.dbs.map((db) => retrying(db))),
      hasQueue: batches !== null,
      share: (ask) => shareReads(writing.dbs, MAX_READ, ask),
    }),
    /** The types in which the visits of a type count too, by its record type, if there are any. */
    also,
    counting: new CommitByRange(commits),
    reads,
    changes,
    addresses: new AddressCache(),
    visitors: new Visitors(new Salts(db, config.longestWindow)),
    bots: new Bots(),
    ignoredHits: new LatestIgnoredHits(),
    tokens: new TokenList(config),
    tokenAttempts: new TokenAttempts(),
    newKeys: new NewKeyAllowance(config.newKeyLimit),
    kept: new KeptAnswers(),
    /** The counts that counting badges showed last, by counter and period. */
    shownCounts: new BoundedMap<bigint>(MAX_SHOWN_COUNTS),
  }
}

/** A database for each range, and one that reaches all shards, with a breaker each: an unavailable shard does not hold up the others. */
function behindBreakers(database: Database) {
  const breakers = Array.from({ length: database.ranges + 1 }, () => new CircuitBreaker())
  const [everywhere, ...dbs] = breakers.map((breaker) => withBreaker(database, breaker)) as [Database, ...Database[]]
  return { breakers, everywhere, dbs }
}

/** @param dbs one for each range */
function shareReads<Value>(
  dbs: readonly Executor[],
  maxCounters: number,
  read: (db: Executor, counters: readonly CounterAddress[]) => Promise<Value[]>,
): ReadsByRange<Value> {
  const options = { deadlineMs: STATEMENT_DEADLINE_MS, maxCounters, read }
  return new ReadsByRange(dbs.map((db) => new SharedReads(db, options)))
}

/** How requests read counters. */
function makeReads({ dbs, everywhere }: ReturnType<typeof behindBreakers>) {
  const sumsOf = (mostPending: number, period: RecentPeriod | null = null, maxRows?: number) =>
    new SharedReads<SumReading | TooManyKeys>(everywhere, {
      deadlineMs: STATEMENT_DEADLINE_MS,
      maxCounters: MAX_SUMS,
      read: (db, asked) => readSums(db, asked, { mostPending, period, maxRows, ranges: dbs.length }),
    })
  const publicSumsOf = (period: RecentPeriod | null) => sumsOf(MAX_PUBLIC_PENDING_OF_TYPE, period, MAX_PUBLIC_ROWS)
  // A refusal of too many keys is a value: it concerns one sum of a group.
  const sums = {
    exact: sumsOf(MAX_PENDING_OF_TYPE),
    bounded: publicSumsOf(null),
    rolled: new RolledCache(sumsOf(0)),
    recent: { day: publicSumsOf('day'), week: publicSumsOf('week'), month: publicSumsOf('month') },
  }
  /** What was counted in a period that ends now. */
  const recent = (period: RecentPeriod) =>
    shareReads(dbs, MAX_RECENT, (db, counters) => readRecentPeriod(db, counters, period, new Date()))
  const counters = (consistency: Consistency) =>
    shareReads(dbs, MAX_READ, (db, counters) => readCounters(db, counters, consistency))
  const exact = counters(MAX_PENDING)
  /** For requests without a token, by the number of counters that one of them asks for. */
  const bounded = {
    one: counters(MAX_PUBLIC_PENDING),
    few: counters(Math.floor(MAX_PUBLIC_PENDING / FEW)),
    many: counters(LEAST_PUBLIC_PENDING),
  }
  return {
    exact,
    bounded,
    load: () => loadOf([exact, bounded.one, bounded.few, bounded.many]),
    rolled: new RolledCache(counters('rolled'), sums.rolled),
    recent: { day: recent('day'), week: recent('week'), month: recent('month') },
    sums,
  }
}

/** Reads different sums, a few at once. A refusal concerns its sum alone. */
async function readSums(
  db: Executor,
  asked: readonly SumOf[],
  options: SumOptions,
): Promise<(SumReading | TooManyKeys)[]> {
  const found: (SumReading | TooManyKeys)[] = []
  const read = (sum: SumOf) =>
    readSum(db, sum, options).catch((error: unknown) => {
      if (error instanceof TooManyKeys) return error
      throw error
    })
  for (let first = 0; first < asked.length; first += SUMS_AT_ONCE) {
    found.push(...(await Promise.all(asked.slice(first, first + SUMS_AT_ONCE).map(read))))
  }
  return found
}
