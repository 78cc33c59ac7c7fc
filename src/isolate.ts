import { BoundedMap } from './bounded-map.ts'
import type { Bindings } from './config/bindings.ts'
import { type Config, readConfig } from './config/config.ts'
import { longestWindow } from './config/counter-types.ts'
import { TokenList } from './config/token-list.ts'
import { readTotal, type TotalReading } from './counters/history/read-total.ts'
import { MAX_RECENT, type RecentPeriod, readRecentPeriod } from './counters/history/recent-period.ts'
import { AddressCache } from './counters/keys/address-cache.ts'
import type { CounterAddress } from './counters/keys/counter-address.ts'
import { Keys } from './counters/keys/keys.ts'
import { NewKeyBudgets } from './counters/keys/new-key-budget.ts'
import { TooManyKeys } from './counters/keys/prefix.ts'
import { MAX_READ, readCounters } from './counters/read/read-counters.ts'
import { ReadsByRange } from './counters/read/reads-by-range.ts'
import { SharedReads } from './counters/read/shared-reads.ts'
import { TotalsCache } from './counters/read/totals-cache.ts'
import { CommitByRange } from './counters/write/commit-by-range.ts'
import { GroupCommit } from './counters/write/group-commit.ts'
import { batchQueue } from './counters/write/queue-message.ts'
import { SlotPool } from './counters/write/slot-pool.ts'
import { CircuitBreaker, withBreaker } from './database/circuit-breaker.ts'
import { type Database, type Executor, openDatabase } from './database/database.ts'
import { retrying, withRetries } from './database/retry.ts'
import { Attempts, MAX_ATTEMPTS } from './visits/attempts.ts'
import { Bots } from './visits/bots.ts'
import { IgnoredHits } from './visits/ignored-hits.ts'
import { NewKeyAllowance } from './visits/new-key-allowance.ts'
import { Salts } from './visits/salts.ts'
import { Visitors } from './visits/visitors.ts'

/** Milliseconds for one attempt at a statement of a request. A statement is given up within twice that. */
const STATEMENT_DEADLINE_MS = 3_000
/** Milliseconds for one statement of a background run. No client waits for it, and its pages are larger than a request's. */
const BACKGROUND_DEADLINE_MS = 20_000

/** Answers that an isolate keeps for pages for everybody, of about 10 kB each. */
const MAX_PUBLIC_NUMBERS = 50

/** Counts in one generation of `shownCounts`; it holds two generations. */
const MAX_SHOWN_COUNTS = 1_000

/** Totals of types and prefixes that one group of requests reads, each with a statement or two. */
const MAX_TOTALS_AT_ONCE = 3

/** What an isolate keeps between requests: plain data, never a promise or a connection of one of them. */
export interface Isolate {
  config: Config
  db: Database
  /** The breaker of `db`, and one for each range: a shard that is away does not keep requests from the others. */
  breakers: readonly CircuitBreaker[]
  /** The names of counters, and which keys of public requests count. */
  keys: Keys
  counting: CommitByRange
  reads: ReturnType<typeof makeReads>
  addresses: AddressCache
  visitors: Visitors
  bots: Bots
  ignoredHits: IgnoredHits
  tokens: TokenList
  /** Attempts at the owner's token. */
  attempts: Attempts
  newKeys: NewKeyAllowance
  /** The latest numbers of pages for everybody, by what was asked. In milliseconds since 1970. */
  publicNumbers: BoundedMap<{ readAt: number; numbers: object }>
  /** The counts that counting badges showed last, by counter and period. */
  shownCounts: BoundedMap<bigint>
}

// By the bindings: the platform passes the same object to every request of an isolate.
const isolates = new WeakMap<Bindings, Isolate>()
/** The one that was asked for last: there is seldom another, and a hit asks several times. */
let latest: { bindings: Bindings; isolate: Isolate } | null = null

/**
 * The isolate's services, created on its first request. The only way to reach them.
 *
 * @throws {ConfigurationError} on every request until the settings are right
 */
export function isolateOf(bindings: Bindings): Isolate {
  if (latest?.bindings === bindings) return latest.isolate
  let isolate = isolates.get(bindings)
  if (isolate === undefined) {
    isolate = makeIsolate(readConfig(bindings))
    isolates.set(bindings, isolate)
  }
  latest = { bindings, isolate }
  return isolate
}

/**
 * Opens the database for a background run. Without retries: runs retry by themselves, and their budgets count every statement
 * that is sent.
 */
export function openBackgroundDatabase({ databaseUrl, ranges }: Config): Database {
  return openDatabase({ url: databaseUrl, deadlineMs: BACKGROUND_DEADLINE_MS, ranges })
}

function makeIsolate(config: Config): Isolate {
  const { databaseUrl: url, ranges, batches } = config
  const database = openDatabase({ url, deadlineMs: STATEMENT_DEADLINE_MS, ranges })
  const breakers = Array.from({ length: ranges === 1 ? 1 : ranges + 1 }, () => new CircuitBreaker())
  const [attempts, ...ofRanges] = breakers.map((breaker) => withBreaker(database, breaker)) as [Database, ...Database[]]
  const attemptsByRange = ranges === 1 ? [attempts] : ofRanges
  const classicSlots = new Map<number, number>()
  for (const { recordType, slots } of config.types.values()) if (slots !== null) classicSlots.set(recordType, slots)
  const db = withRetries(attempts)
  return {
    config,
    db,
    breakers,
    keys: makeKeys(config, attemptsByRange),
    counting: new CommitByRange(
      attemptsByRange.map(
        (db) =>
          new GroupCommit({
            db,
            deadlineMs: STATEMENT_DEADLINE_MS,
            classicSlots,
            slots: new SlotPool(),
            queue: batches && batchQueue(batches),
          }),
      ),
    ),
    reads: makeReads(attemptsByRange, attempts),
    addresses: new AddressCache(),
    visitors: new Visitors(new Salts(db, longestWindow(config.types.values()))),
    bots: new Bots(),
    ignoredHits: new IgnoredHits(),
    tokens: new TokenList(config),
    attempts: new Attempts(MAX_ATTEMPTS),
    newKeys: new NewKeyAllowance(config.newKeyLimit),
    publicNumbers: new BoundedMap(MAX_PUBLIC_NUMBERS),
    shownCounts: new BoundedMap(MAX_SHOWN_COUNTS),
  }
}

/** @param attempts one for each range */
function makeKeys({ types, batches }: Config, attempts: readonly Executor[]): Keys {
  const recordTypeOf = (name: string) => types.get(name)!.recordType
  return new Keys({
    rules: new Map([...types.values()].map((type) => [type.recordType, type])),
    also: new Map(
      [...types.values()].flatMap(({ recordType, also }) => (also === null ? [] : [[recordType, recordTypeOf(also)]])),
    ),
    budgets: new NewKeyBudgets(attempts.map((db) => retrying(db))),
    hasQueue: batches !== null,
    share: (ask) => shareReads(attempts, MAX_READ, ask),
  })
}

/** @param attempts one for each range */
function shareReads<Value>(
  attempts: readonly Executor[],
  maxCounters: number,
  read: (db: Executor, counters: readonly CounterAddress[]) => Promise<Value[]>,
): ReadsByRange<Value> {
  const options = { deadlineMs: STATEMENT_DEADLINE_MS, maxCounters, read }
  return new ReadsByRange(attempts.map((db) => new SharedReads(db, options)))
}

/**
 * How requests read counters.
 *
 * @param attempts one for each range
 * @param everywhere for statements that go to all shards
 */
function makeReads(attempts: readonly Executor[], everywhere: Executor) {
  const sumsOf = (consistency: 'exact' | 'rolled', period: RecentPeriod | null) =>
    new SharedReads<TotalReading | TooManyKeys>(everywhere, {
      deadlineMs: STATEMENT_DEADLINE_MS,
      maxCounters: MAX_TOTALS_AT_ONCE,
      read: (db, asked) =>
        Promise.all(
          asked.map((total) =>
            readTotal(db, total, { consistency, period, ranges: attempts.length }).catch((error: unknown) => {
              // It concerns this one alone.
              if (error instanceof TooManyKeys) return error
              throw error
            }),
          ),
        ),
    })
  // By what `totalOf` takes for a counter; the refusal of one that has too many keys.
  const sums = {
    exact: sumsOf('exact', null),
    rolled: new TotalsCache(sumsOf('rolled', null)),
    recent: { day: sumsOf('exact', 'day'), week: sumsOf('exact', 'week'), month: sumsOf('exact', 'month') },
  }
  /** What was counted in a period that ends now. */
  const recent = (period: RecentPeriod) =>
    shareReads(attempts, MAX_RECENT, (db, counters) => readRecentPeriod(db, counters, period, new Date()))
  return {
    exact: shareReads(attempts, MAX_READ, (db, counters) => readCounters(db, counters, 'exact')),
    totals: new TotalsCache(
      shareReads(attempts, MAX_READ, (db, counters) => readCounters(db, counters, 'rolled')),
      sums.rolled,
    ),
    recent: { day: recent('day'), week: recent('week'), month: recent('month') },
    sums,
  }
}
