import * as v from 'valibot'
import { leastExpiryStatements } from '../counters/history/expire-hours.ts'
import { namePruningStatements } from '../counters/keys/names.ts'
import { MAX_RANGES } from '../counters/ranges.ts'
import { leastRollUpStatements } from '../counters/rollup/roll-up.ts'
import type { QueueProducer } from '../counters/write/queue.ts'
import { type FieldError, integer, optionalTable, orNull, parsed, table, textThat } from '../schemas.ts'
import { parseNetwork } from '../visits/network.ts'
import type { RateLimit } from '../visits/rate-limit.ts'
import { BASE_PATH_FORM, type Bindings, OPTIONS } from './bindings.ts'
import { withCompanions } from './companions.ts'
import { type counterType, text } from './counter-types.ts'
import { readSetting, underOwnNames } from './mistakes.ts'
import { longEnough, longestOf, readSites, readTypes } from './read-types.ts'
import { readTokens } from './tokens.ts'

/** The cron expressions of wrangler.toml. */
export const ROLL_UP_CRON = '* * * * *'
export const PRUNING_CRON = '*/2 * * * *'

const cron = textThat('must be the cron expression of a trigger, five fields such as "*/2 * * * *"', (value) =>
  /^\S+(?: \S+){4}$/.test(value),
)

/** The triggers of the tasks. One run has too few statements for both. */
const crons = v.optional(
  v.pipe(
    table({ roll_up: v.optional(cron, ROLL_UP_CRON), pruning: v.optional(cron, PRUNING_CRON) }),
    v.forward(
      v.check(
        ({ rollUp, pruning }) => rollUp !== pruning,
        'must differ from CRONS.roll_up: each task needs its own run',
      ),
      ['pruning'],
    ),
  ),
  {},
)

/**
 * The default budgets of the background tasks. A run has 50 subrequests and 10 ms of processor time on the free plan, 10,000 and
 * 30 s on the paid plan; some subrequests are left for retries. Pruning and the expiry of hours share a run every two minutes, and
 * can delete all that two roll-ups leave (`test/database/counters/budgets.slow.test.ts`).
 */
export const PLANS = {
  free: {
    // A run that exceeds its processor time is killed, and its lease must end before the next run.
    ROLLUP: { page_slots: 800, max_statements: 20, max_seconds: 20 },
    PRUNING: { page_slots: 800, max_statements: 6, max_seconds: 60 },
    HISTORY: { page_hours: 800, max_statements: 18, max_seconds: 40 },
  },
  paid: {
    ROLLUP: { page_slots: 1_000, max_statements: 9_000, max_seconds: 50 },
    PRUNING: { page_slots: 2_000, max_statements: 5_000, max_seconds: 60 },
    HISTORY: { page_hours: 2_000, max_statements: 9_800, max_seconds: 40 },
  },
} as const satisfies Record<string, Record<'ROLLUP' | 'PRUNING' | 'HISTORY', Record<string, number>>>

/** What a run of the free plan may send. */
export const FREE_SUBREQUESTS = 50

export type Plan = keyof typeof PLANS

/** The budgets of the background tasks. The defaults are the plan's. */
function budgetsOf(preset: (typeof PLANS)[Plan]) {
  const { ROLLUP, PRUNING, HISTORY } = preset
  return {
    // 10 for a page and 4 around the pages (src/counters/rollup/roll-up.ts).
    ROLLUP: optionalTable({
      page_slots: v.optional(integer(1, 20_000), ROLLUP.page_slots),
      max_statements: v.optional(integer(13, 10_000), ROLLUP.max_statements),
      max_seconds: v.optional(integer(1, 840), ROLLUP.max_seconds),
    }),
    PRUNING: optionalTable({
      // In hours: rows carry the hour up to which they are kept.
      idempotency_hours: v.optional(integer(1, 24 * 365), 24),
      page_slots: v.optional(integer(1, 10_000), PRUNING.page_slots),
      max_statements: v.optional(integer(2, 10_000), PRUNING.max_statements),
      max_seconds: v.optional(integer(1, 840), PRUNING.max_seconds),
    }),
    HISTORY: optionalTable({
      // Badges read the hours of up to 30 days ago.
      hour_days: v.optional(integer(31, 3_660), 90),
      page_hours: v.optional(integer(1, 10_000), HISTORY.page_hours),
      max_statements: v.optional(integer(4, 10_000), HISTORY.max_statements),
      max_seconds: v.optional(integer(1, 840), HISTORY.max_seconds),
    }),
  }
}

const POWERS_OF_TWO = Array.from({ length: Math.log2(MAX_RANGES) + 1 }, (_, power) => 2 ** power)
const RANGES_RULE = `must be a power of two from 1 to ${MAX_RANGES}, and at least the number of shards`

const BASE_PATH_RULE =
  'must be a path such as "/counter": letters, digits, "_" and "-" between slashes, without a slash at its end'

const NETWORK_RULE = 'must be an address or a network, such as "203.0.113.7", "203.0.113.0/24" or "2001:db8::/48"'

const networks = v.array(parsed(parseNetwork, NETWORK_RULE), 'must be a list of networks')

const binding = <T>(method: keyof T & string, what: string) =>
  orNull(
    v.custom<T>(
      (value) => typeof (value as Record<string, unknown> | null)?.[method] === 'function',
      `must be a ${what} in wrangler.toml`,
    ),
  )

const rateLimit = binding<RateLimit>('limit', 'rate limiting binding: [[ratelimits]]')
const queue = binding<QueueProducer>('sendBatch', 'queue binding: [[queues.producers]]')

const databaseUrl = v.pipe(
  v.string('is missing: set it with `wrangler secret put DATABASE_URL`, or in .dev.vars'),
  v.check(
    (value) => databaseUrlProblem(value) === null,
    ({ input }) => databaseUrlProblem(input)!,
  ),
)

const apiToken = v.pipe(
  v.string('is missing: set it with `wrangler secret put API_TOKEN`, or in .dev.vars'),
  v.regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters, without spaces'),
)

const settings = {
  DATABASE_URL: databaseUrl,
  API_TOKEN: apiToken,
  API_TOKENS: v.optional(v.string('must be text with a line for each token'), ''),
  SITES: v.optional(v.string()),
  // Read by `readTypes`, type by type.
  COUNTERS: v.optional(v.custom<Record<string, v.InferInput<typeof counterType>>>(() => true)),
  BATCHES: queue,
  DEAD_BATCHES: queue,
  VISITOR_LIMIT: rateLimit,
  READER_LIMIT: rateLimit,
  NEW_KEY_LIMIT: rateLimit,
  BASE_PATH: v.optional(textThat(BASE_PATH_RULE, (value) => value === '' || BASE_PATH_FORM.test(value))),
  SITE_NAME: v.optional(text(60), 'Slotted Counter'),
  PLAN: v.optional(v.picklist(['free', 'paid'], 'must be "free" or "paid"'), 'free'),
  SHARDING: optionalTable({ ranges: v.optional(v.picklist(POWERS_OF_TWO, RANGES_RULE), 1) }),
  EXCLUDE: optionalTable({ networks: v.optional(networks, []) }),
  CRONS: crons,
}

/** The schemas of all settings, each of which is read by itself. */
const schemasOf = (of: Plan) => ({ ...settings, ...budgetsOf(PLANS[of]) })

type Schemas = ReturnType<typeof schemasOf>

export type Settings = v.InferInput<v.ObjectSchema<Schemas, undefined>>

/** The settings of docs/configuration.md. Each replaces the whole setting of that name in wrangler.toml. */
export type CounterOptions = Partial<Settings> & {
  /** The names that bindings and secrets have in `env`, where they differ: `{ DATABASE_URL: 'COUNTER_DATABASE_URL' }`. */
  bindings?: { [Name in keyof Settings | 'ASSETS']?: string }
}

/** The bindings in `env`, with options in place of its settings. `readConfig` checks them. */
export function bindingsOf({ bindings = {}, ...settings }: CounterOptions, env: object): Bindings {
  const renamed = Object.entries(bindings).map(([name, inEnv]) => [name, (env as Record<string, unknown>)[inEnv]])
  const options = { bindings, settings: Object.keys(settings) }
  return { ...env, ...Object.fromEntries(renamed), ...settings, [OPTIONS]: options }
}

/** The names of all settings, bindings and secrets. */
export const settingNames = () => Object.keys(schemasOf('free'))

function databaseUrlProblem(value: string): string | null {
  const url = URL.canParse(value) ? new URL(value) : null
  if (url?.protocol === 'mysql:') {
    return 'must start with https://, not mysql://: the Worker uses PlanetScale’s HTTP API (https://USER:PASSWORD@HOST)'
  }
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return 'must be a URL of the form https://USER:PASSWORD@HOST'
  }
  if (url.username === '' || url.password === '') return 'must have a user and a password: https://USER:PASSWORD@HOST'
  return null
}

function unknownOptions({ [OPTIONS]: options }: Bindings, schemas: Schemas): FieldError[] {
  if (options === undefined) return []
  const names = Object.keys(options.bindings).filter((name) => name !== 'ASSETS')
  return [...options.settings, ...names.map((name) => `bindings.${name}`)]
    .filter((field) => !Object.hasOwn(schemas, field.replace('bindings.', '')))
    .map((field) => ({ field, message: 'is not known here' }))
}

/** `PRUNING.idempotency_hours` if a mistake hides it: rows that are deleted too early count repeats twice. */
const HIDDEN_IDEMPOTENCY_HOURS = 24 * 31

/** Raises a budget that is too small for the ranges, and lowers one that is too large for the free plan. */
function boundedStatements<Budget extends { maxStatements: number }>(
  name: string,
  budget: Budget,
  [least, mostOfFree]: [number, number],
  { ranges, of, mistakes }: { ranges: number; of: Plan; mistakes: FieldError[] },
): Budget {
  const most = of === 'free' ? Math.max(least, mostOfFree) : Number.POSITIVE_INFINITY
  const isTooSmall = budget.maxStatements < least
  if (!isTooSmall && budget.maxStatements <= most) return budget
  const advice = of === 'free' && ranges > 1 ? ': several ranges need PLAN = "paid"' : ''
  const message = isTooSmall
    ? `must be at least ${least}, because SHARDING.ranges is ${ranges}${advice}`
    : `must be at most ${most} with PLAN = "free", whose runs have ${FREE_SUBREQUESTS} subrequests`
  mistakes.push({ field: `${name}.max_statements`, message })
  return { ...budget, maxStatements: isTooSmall ? least : most }
}

/** The most statements of a pruning run besides pruning: two records, a budget of new keys for each range, names, and hours. */
function besidePruning(ranges: number): number {
  return 2 + ranges + namePruningStatements(ranges) + leastExpiryStatements(ranges)
}

/**
 * Reads, checks and types the settings, and fills in defaults. It never throws: a wrong setting must not stop what it does not
 * concern. A wrong type is left out, a wrong line of `API_TOKENS` too, any other wrong part has its default, and what has none
 * is `null`. But nothing is deleted by a default in the place of a wrong part.
 * @returns the configuration, and what is wrong: the setting, and the fix
 */
export function readConfig(bindings: Bindings) {
  const schemas = schemasOf(bindings.PLAN === 'paid' ? 'paid' : 'free')
  const found = unknownOptions(bindings, schemas)
  // Perhaps the name of any other setting.
  const isMisspelt = found.length > 0
  const read = <Name extends keyof Schemas, Otherwise = never>(name: Name, otherwise?: Otherwise) =>
    readSetting(schemas[name] as v.GenericSchema, bindings[name], name, found, otherwise) as
      | v.InferOutput<Schemas[Name]>
      | Otherwise
  const url = read('DATABASE_URL', null)
  const token = read('API_TOKEN', null)
  const tokenLines = read('API_TOKENS')
  const sites = readSites(bindings.SITES, found)
  const typesRead = readTypes(bindings, sites, found)
  const { declared, stopped, redirects, windows } = typesRead
  const plan = read('PLAN')
  read('BASE_PATH')
  const correct = found.length
  const { ranges } = read('SHARDING')
  // Another number could split batches between shards.
  const rangesKnown = found.length === correct
  const { networks: ownNetworks } = read('EXCLUDE')
  const cronsRead = read('CRONS', { rollUp: ROLL_UP_CRON, pruning: PRUNING_CRON })
  const budgets = { rollUp: read('ROLLUP'), pruning: read('PRUNING'), history: read('HISTORY') }
  const hides = (setting: RegExp) => isMisspelt || found.some(({ field }) => setting.test(field))
  const mayExpire = !hides(/^(?:COUNTERS|HISTORY(?!\.(?:page_hours|max_)))/)
  const isIdempotencyHidden = hides(/^PRUNING(?!\.(?:page_slots|max_))/)
  const tokens = readTokens(tokenLines, (name) => declared.has(name), found)
  const types = withCompanions(typesRead.types, declared, found)
  const pruning = longEnough(budgets.pruning, windows, found)
  if (isIdempotencyHidden) pruning.idempotencyHours = Math.max(pruning.idempotencyHours, HIDDEN_IDEMPOTENCY_HOURS)
  const run = { ranges, of: plan, mistakes: found }
  // A page of each range must fit into a run.
  const free = PLANS.free.ROLLUP.max_statements
  if (plan === 'free' && budgets.rollUp.maxStatements === free) {
    budgets.rollUp.maxStatements = Math.min(free + 8 * (ranges - 1), FREE_SUBREQUESTS - 2)
  }
  const config = {
    /** `null`: no statement can be sent, because DATABASE_URL or SHARDING is wrong. */
    databaseUrl: rangesKnown ? url : null,
    /** The owner's token; `tokens` are all others. `null`: nobody has it. */
    apiToken: token,
    tokens,
    batches: read('BATCHES'),
    deadBatches: read('DEAD_BATCHES'),
    /** Of public counting. */
    rateLimit: read('VISITOR_LIMIT'),
    /** Of public reading. */
    readLimit: read('READER_LIMIT'),
    /** Of look-ups of keys that an isolate does not know. Above it, keys that do not exist are refused. */
    newKeyLimit: read('NEW_KEY_LIMIT'),
    /** What pages are headed with. */
    site: read('SITE_NAME'),
    plan,
    /** The default of `allowed_origins`. */
    sites,
    types,
    /** What is wrong with the types that are left out. */
    stopped,
    /** `redirect_to` of every type that has one, also of those that are left out: downloads redirect in any case. */
    redirects,
    /** Seconds of the longest window in which a visitor counts once. */
    longestWindow: longestOf(windows),
    rollUp: boundedStatements('ROLLUP', budgets.rollUp, [leastRollUpStatements(ranges), 10_000], run),
    pruning: boundedStatements('PRUNING', pruning, [1 + ranges, FREE_SUBREQUESTS - besidePruning(ranges)], run),
    history: boundedStatements('HISTORY', budgets.history, [0, FREE_SUBREQUESTS], run),
    /** Whether it is certain how long hours and salts are kept. They cannot be restored. */
    mayExpire,
    /** Into how many ranges record ids are divided. */
    ranges,
    /** Networks whose visits do not count. */
    ownNetworks,
    crons: cronsRead,
  }
  return { config, mistakes: underOwnNames(bindings, found) }
}

/** The Worker's settings, checked and typed. */
export type Config = Readonly<ReturnType<typeof readConfig>['config']>
