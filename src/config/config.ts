import * as v from 'valibot'
import { MAX_RANGES } from '../counters/ranges.ts'
import type { QueueProducer } from '../counters/write/queue.ts'
import { budgetsOf } from '../plans.ts'
import { type FieldError, integer, orNull, parsed, textThat } from '../schemas.ts'
import { readTokens } from '../tokens.ts'
import { parseNetwork } from '../visits/network.ts'
import type { RateLimit } from '../visits/rate-limit.ts'
import { missingBindings } from './bound-resources.ts'
import { DEFAULT_WINDOWS, HOST_FORM, MAX_IDEMPOTENCY_HOURS, type TYPE_SETTINGS, text } from './counter-types.ts'
import { BASE_PATH_FORM, type Bindings, OPTIONS, readSetting, readTable, underOwnNames } from './read-settings.ts'
import { DEFAULT_COUNTERS, readTypes } from './read-types.ts'
import { unknownAmong } from './similar-name.ts'

/** The cron expressions of wrangler.toml, each of which starts a task: a run has too few statements for both. */
export const ROLL_UP_CRON = '* * * * *'
export const PRUNING_CRON = '*/2 * * * *'

/** With more ranges, a pruning run has too few of them. */
const MAX_FREE_RANGES = 4

const POWERS_OF_TWO = Array.from({ length: Math.log2(MAX_RANGES) + 1 }, (_, power) => 2 ** power)
const RANGES_RULE = `must be a power of two from 1 to ${MAX_RANGES}, and at least the number of shards`
const NETWORK_RULE =
  'must be an address or a network, such as "203.0.113.7", "203.0.113.0/24" or "2001:db8::/48", with a prefix of at least 8 bits'
const BASE_PATH_RULE =
  'must be a path such as "/counter": letters, digits, "_" and "-" between slashes, without a slash at its end'

const binding = <T>(method: keyof T & string, what: string) =>
  orNull(
    v.custom<T>(
      (value) => typeof (value as Record<string, unknown> | null)?.[method] === 'function',
      `must be a ${what} in wrangler.toml`,
    ),
  )

const rateLimit = binding<RateLimit>('limit', 'rate limiting binding: [[ratelimits]]')
const queue = binding<QueueProducer>('sendBatch', 'queue binding: [[queues.producers]]')

const URL_FORM = 'https://USER:PASSWORD@HOST'

const databaseUrl = v.pipe(
  v.string('is missing: set it with `wrangler secret put DATABASE_URL`, or in .dev.vars'),
  v.check(
    (text) => !text.startsWith('mysql:'),
    `must start with https://, not mysql://: the Worker uses PlanetScale’s HTTP API (${URL_FORM})`,
  ),
  v.check((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), `must be a URL of the form ${URL_FORM}`),
  v.check(
    (text) => new URL(text).username !== '' && new URL(text).password !== '',
    `must have a user and a password: ${URL_FORM}`,
  ),
)

const apiToken = v.pipe(
  v.string('is missing: set it with `wrangler secret put API_TOKEN`, or in .dev.vars'),
  v.regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters, without spaces'),
  v.regex(/^(?!(["']).*\1$)/, 'must not have quotes around it: they would be part of the token'),
)

const SITES_RULE = 'must be sites such as "https://blog.example, https://shop.example", without paths and without "*."'

/** A site, in which capitals and a slash at the end are accepted. */
const site = parsed((text) => {
  const url = URL.parse(text)
  if (url === null) return text === '*' ? text : null
  return /^https?:/.test(url.origin) && url.href === `${url.origin}/` && HOST_FORM.test(url.hostname)
    ? url.origin
    : null
}, SITES_RULE)

const VALUES = {
  DATABASE_URL: databaseUrl,
  API_TOKEN: apiToken,
  API_TOKENS: v.optional(v.string('must be text with one line per token'), ''),
  BATCHES: queue,
  DEAD_BATCHES: queue,
  VISITOR_LIMIT: rateLimit,
  READER_LIMIT: rateLimit,
  NEW_KEY_LIMIT: rateLimit,
  // Given as text, because people type it into a form.
  SITES: v.optional(v.array(site, SITES_RULE), []),
  BASE_PATH: v.optional(textThat(BASE_PATH_RULE, (value) => value === '' || BASE_PATH_FORM.test(value))),
  SITE_NAME: v.optional(text(60), 'Slotted Counter'),
  PLAN: v.optional(v.picklist(['free', 'paid'], 'must be "free" or "paid"'), 'free'),
}

const TABLES = {
  SHARDING: { ranges: v.optional(v.picklist(POWERS_OF_TWO, RANGES_RULE), 1) },
  EXCLUDE: { networks: v.optional(v.array(parsed(parseNetwork, NETWORK_RULE), 'must be a list of networks'), []) },
  // In hours: rows carry the hour up to which they are kept.
  PRUNING: { idempotency_hours: v.optional(integer(1, MAX_IDEMPOTENCY_HOURS), 24) },
  // Badges read the hours of up to 30 days ago.
  HISTORY: { hour_days: v.optional(integer(31, 3_660), 90) },
}

type InputOf<Entries extends v.ObjectEntries> = v.InferInput<v.ObjectSchema<Entries, undefined>>

type Settings = Omit<InputOf<typeof VALUES>, 'SITES'> & {
  [Name in keyof typeof TABLES]: InputOf<(typeof TABLES)[Name]>
} & { SITES: string; COUNTERS: Record<string, InputOf<typeof TYPE_SETTINGS>> }

export const SETTING_NAMES: readonly string[] = [...Object.keys(VALUES), ...Object.keys(TABLES), 'COUNTERS']

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

function unknownOptions({ [OPTIONS]: options }: Bindings): FieldError[] {
  if (options === undefined) return []
  const names = Object.keys(options.bindings).filter((name) => name !== 'ASSETS')
  return [...options.settings, ...names.map((name) => `bindings.${name}`)]
    .filter((field) => !SETTING_NAMES.includes(field.replace('bindings.', '')))
    .map((field) => ({ field, message: unknownAmong(SETTING_NAMES, field.replace('bindings.', '')) }))
}

/** `PRUNING.idempotency_hours` if a mistake hides it. */
const HIDDEN_IDEMPOTENCY_HOURS = 24 * 31

/**
 * Reads and checks the settings, and never throws: a wrong one must not stop what it does not concern. A type with a mistake in what it
 * counts is left out, as is a wrong line of `API_TOKENS`. Other wrong parts have their default, or `null`. No default ever causes deletion.
 */
export function readConfig(bindings: Bindings) {
  const misspelt = unknownOptions(bindings)
  const mistakes = [...misspelt, ...missingBindings(bindings)]
  const value = <Name extends keyof typeof VALUES>(name: Name, given = bindings[name]) =>
    readSetting(VALUES[name] as v.GenericSchema, given, name, mistakes) as v.InferOutput<(typeof VALUES)[Name]>
  const table = <Name extends keyof typeof TABLES>(name: Name) =>
    readTable(TABLES[name], bindings[name], name, mistakes)
  const isWrong = (name: string) => mistakes.some(({ field }) => field.split('.')[0] === name)
  /** Whether a value is what its owner meant: it is given, or no mistake could be it. */
  const isMeant = (name: keyof typeof TABLES, setting: string, value: number) =>
    Object(bindings[name])[setting] === value || (misspelt.length === 0 && !isWrong(name))
  const [databaseUrl, apiToken] = [value('DATABASE_URL') ?? null, value('API_TOKEN') ?? null]
  const { SITES } = bindings
  const sites = value('SITES', typeof SITES === 'string' ? SITES.split(/[\s,]+/).filter(Boolean) : SITES)
  // Written as one text, whose parts have no names.
  for (const mistake of mistakes) mistake.field = mistake.field.replace(/^SITES\.\d+$/, 'SITES')
  // Without both, variables are probably missing, such as those that environments of wrangler do not inherit.
  const { COUNTERS = SITES === undefined ? undefined : DEFAULT_COUNTERS } = bindings
  const base = value('BASE_PATH') ?? ''
  const { types, stopped, all, areWindowsMeant } = readTypes(COUNTERS, sites, base, mistakes)
  const tokens = readTokens(value('API_TOKENS'), (name) => all.some((type) => type.name === name), mistakes)
  const { idempotencyHours } = table('PRUNING')
  const { hourDays } = table('HISTORY')
  const [plan, { ranges }] = [value('PLAN'), table('SHARDING')]
  for (const { name, dedupeSeconds } of all) {
    if ((dedupeSeconds ?? 0) <= idempotencyHours * 3_600) continue
    const message = `must be at most ${idempotencyHours * 3_600}: PRUNING.idempotency_hours is ${idempotencyHours}`
    mistakes.push({ field: `COUNTERS.${name}.dedupe_seconds`, message })
  }
  if (plan === 'free' && ranges > MAX_FREE_RANGES) {
    mistakes.push({ field: 'PLAN', message: `must be "paid", because SHARDING.ranges is ${ranges}` })
  }
  const longestWindow = Math.max(DEFAULT_WINDOWS.download, ...all.map(({ dedupeSeconds }) => dedupeSeconds ?? 0))
  const hidden = isMeant('PRUNING', 'idempotency_hours', idempotencyHours) ? 0 : HIDDEN_IDEMPOTENCY_HOURS
  const budgets = budgetsOf(plan, ranges)
  const config = {
    /** `null`: no statement can be sent, because DATABASE_URL is wrong or SHARDING, without which batches could be split. */
    databaseUrl: isWrong('SHARDING') ? null : databaseUrl,
    /** The owner's token; `tokens` are all others. `null`: nobody has it. */
    apiToken,
    tokens,
    batches: value('BATCHES'),
    deadBatches: value('DEAD_BATCHES'),
    rateLimit: value('VISITOR_LIMIT'),
    readLimit: value('READER_LIMIT'),
    /** Of look-ups of keys that an isolate does not know. Above it, keys that do not exist are refused. */
    newKeyLimit: value('NEW_KEY_LIMIT'),
    site: value('SITE_NAME'),
    plan,
    /** The default of `allowed_origins`. */
    sites,
    types,
    /** What is wrong with the types that are left out. */
    stopped,
    /** `redirect_to` of every type that has one, also of those that are left out: downloads redirect in any case. */
    redirects: new Map(all.flatMap(({ name, redirectTo }) => (redirectTo === null ? [] : [[name, redirectTo]]))),
    /** Seconds of the longest window in which a visitor counts once. */
    longestWindow,
    rollUp: budgets.rollUp,
    // Rows that are deleted too early count repeats twice.
    pruning: {
      ...budgets.pruning,
      idempotencyHours: Math.max(idempotencyHours, Math.ceil(longestWindow / 3_600), hidden),
    },
    history: { ...budgets.history, hourDays },
    /** Whether it is certain how long hours and salts are kept. They cannot be restored. */
    mayExpire:
      isMeant('HISTORY', 'hour_days', hourDays) &&
      areWindowsMeant &&
      (misspelt.length === 0 || bindings.COUNTERS !== undefined),
    ranges,
    ownNetworks: table('EXCLUDE').networks,
  }
  // With options, an application may have these files elsewhere, or serve none.
  const lacksFiles = bindings.ASSETS === undefined && bindings[OPTIONS] === undefined
  return { config, mistakes: underOwnNames(bindings, mistakes), lacksFiles }
}

/** The Worker's settings, checked and typed. */
export type Config = Readonly<ReturnType<typeof readConfig>['config']>
