import * as v from 'valibot'
import { MAX_RANGES } from '../counters/ranges.ts'
import type { QueueProducer } from '../counters/write/queue.ts'
import { budgetsOf, MAX_FREE_RANGES } from '../plans.ts'
import { type FieldError, integer, optionalTable, orNull, parsed, table, textThat } from '../schemas.ts'
import { parseNetwork } from '../visits/network.ts'
import type { RateLimit } from '../visits/rate-limit.ts'
import { BASE_PATH_FORM, type Bindings, OPTIONS } from './bindings.ts'
import { withCompanions } from './companions.ts'
import { type counterType, text } from './counter-types.ts'
import { readSetting, underOwnNames } from './mistakes.ts'
import { longestOf, readSites, readTypes } from './read-types.ts'
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

// In hours: rows carry the hour up to which they are kept.
const idempotencyHours = integer(1, 24 * 365)
// Badges read the hours of up to 30 days ago.
const hourDays = integer(31, 3_660)

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

/** The schemas of all settings, each of which is read by itself. */
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
  PRUNING: optionalTable({ idempotency_hours: v.optional(idempotencyHours, 24) }),
  HISTORY: optionalTable({ hour_days: v.optional(hourDays, 90) }),
}

export type Settings = v.InferInput<v.ObjectSchema<typeof settings, undefined>>

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
export const settingNames = () => Object.keys(settings)

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

function unknownOptions({ [OPTIONS]: options }: Bindings): FieldError[] {
  if (options === undefined) return []
  const names = Object.keys(options.bindings).filter((name) => name !== 'ASSETS')
  return [...options.settings, ...names.map((name) => `bindings.${name}`)]
    .filter((field) => !Object.hasOwn(settings, field.replace('bindings.', '')))
    .map((field) => ({ field, message: 'is not known here' }))
}

/** `PRUNING.idempotency_hours` if a mistake hides it. */
const HIDDEN_IDEMPOTENCY_HOURS = 24 * 31

/**
 * Reads, checks and types the settings, and fills in defaults. It never throws: a wrong setting must not stop what it does not
 * concern. A type with a mistake in what it counts is left out, a wrong line of `API_TOKENS` too, any other wrong part has its
 * default, and what has none is `null`. But nothing is deleted by a default in the place of a wrong part.
 * @returns the configuration, and what is wrong: the setting, and the fix
 */
export function readConfig(bindings: Bindings) {
  const found = unknownOptions(bindings)
  // Perhaps the name of any other setting.
  const isMisspelt = found.length > 0
  const read = <Name extends keyof typeof settings, Otherwise = never>(name: Name, otherwise?: Otherwise) =>
    readSetting(settings[name] as v.GenericSchema, bindings[name], name, found, otherwise) as
      | v.InferOutput<(typeof settings)[Name]>
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
  /** Whether a setting is certain: it is there, or nothing that could be it is wrong. */
  const isCertain = (name: 'PRUNING' | 'HISTORY', setting: string, rule: v.GenericSchema, before: number) =>
    v.is(rule, Object(bindings[name])[setting]) || (!isMisspelt && found.length === before)
  const [beforePruning, { idempotencyHours: keptHours }] = [found.length, read('PRUNING')]
  const isIdempotencyCertain = isCertain('PRUNING', 'idempotency_hours', idempotencyHours, beforePruning)
  const [beforeHistory, history] = [found.length, read('HISTORY')]
  const mayExpire =
    isCertain('HISTORY', 'hour_days', hourDays, beforeHistory) &&
    typesRead.areWindowsCertain &&
    !(isMisspelt && bindings.COUNTERS === undefined)
  const tokens = readTokens(tokenLines, (name) => declared.has(name), found)
  const types = withCompanions(typesRead.types, declared, found)
  for (const [name, seconds] of windows) {
    if (seconds <= keptHours * 3_600) continue
    const message = `must be at most ${keptHours * 3_600}: PRUNING.idempotency_hours is ${keptHours}`
    found.push({ field: `COUNTERS.${name}.dedupe_seconds`, message })
  }
  // For the longest window of a type, and as long as a mistake may hide: rows that are deleted too early count repeats twice.
  const least = Math.max(Math.ceil(longestOf(windows) / 3_600), isIdempotencyCertain ? 0 : HIDDEN_IDEMPOTENCY_HOURS)
  if (plan === 'free' && ranges > MAX_FREE_RANGES) {
    found.push({ field: 'PLAN', message: `must be "paid", because SHARDING.ranges is ${ranges}` })
  }
  const budgets = budgetsOf(plan, ranges)
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
    rollUp: budgets.rollUp,
    pruning: { ...budgets.pruning, idempotencyHours: Math.max(keptHours, least) },
    history: { ...budgets.history, ...history },
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
