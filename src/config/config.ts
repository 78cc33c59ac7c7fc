import * as z from 'zod'
import type { ExpirySettings } from '../counters/history/expire-hours.ts'
import { MAX_RANGES } from '../counters/ranges.ts'
import type { PruningSettings } from '../counters/rollup/prune.ts'
import { leastRollUpStatements, type RollUpSettings } from '../counters/rollup/roll-up.ts'
import type { QueueProducer } from '../counters/write/queue-message.ts'
import { type FieldError, fieldErrors } from '../field-errors.ts'
import { type Network, parseNetwork } from '../visits/network.ts'
import type { RateLimit } from '../visits/rate-limit.ts'
import type { Bindings } from './bindings.ts'
import { type CounterType, counterTypes, outlivesPruning, sharedRecordTypes } from './counter-types.ts'
import { integer, table } from './fields.ts'
import { PLANS, type Plan, plan } from './plan.ts'
import { readTokens, type Token } from './tokens.ts'

/** A service binding of the Worker to itself. */
export interface SelfBinding {
  fetch(url: string, init: RequestInit): Promise<Response>
}

/** The Worker's settings, checked and typed. */
export interface Config {
  databaseUrl: string
  /** The owner's token. */
  apiToken: string
  /** All other tokens. */
  tokens: readonly Token[]
  /** Queue for batches that the database did not accept. */
  batches: QueueProducer | null
  /** Queue for batches that can never be applied. */
  deadBatches: QueueProducer | null
  /** Rate limit of public counting. */
  rateLimit: RateLimit | null
  /** Rate limit of public reading. */
  readLimit: RateLimit | null
  /** This Worker, for roll-ups near the database. */
  self: SelfBinding | null
  plan: Plan
  types: ReadonlyMap<string, CounterType>
  rollUp: RollUpSettings
  pruning: Required<PruningSettings>
  history: Required<ExpirySettings>
  /** The number of ranges that record ids are cut into. */
  ranges: number
  /** Networks whose hits and downloads do not count. */
  ownNetworks: readonly Network[]
}

/** Thrown by `readConfig` with everything that is wrong with the settings. It contains names and rules, never a value. */
export class ConfigurationError extends Error {
  readonly problems: readonly FieldError[]
  constructor(problems: readonly FieldError[]) {
    super(`The configuration has errors: ${problems.map(({ field, message }) => `${field} ${message}`).join('; ')}`)
    this.name = 'ConfigurationError'
    this.problems = problems
  }
}

const RANGES_RULE = `must be a power of two from 1 to ${MAX_RANGES}, and at least the number of shards`

/** The budgets of the background tasks. Those that are not set are the plan's. */
function budgetsOf(preset: (typeof PLANS)[Plan]) {
  const { ROLLUP, PRUNING, HISTORY } = preset
  return {
    // A roll-up page takes up to 10 statements, the statements around the pages are 4 (src/counters/rollup/roll-up.ts).
    ROLLUP: table({
      page_slots: integer(1, 20_000).default(ROLLUP.page_slots),
      max_statements: integer(14, 10_000).default(ROLLUP.max_statements),
      max_seconds: integer(1, 840).default(ROLLUP.max_seconds),
    }).prefault({}),
    PRUNING: table({
      // Rows carry the hour in which they were last written, so the unit is an hour.
      idempotency_hours: integer(1, 24 * 365).default(24),
      page_slots: integer(1, 10_000).default(PRUNING.page_slots),
      max_statements: integer(2, 10_000).default(PRUNING.max_statements),
      max_seconds: integer(1, 840).default(PRUNING.max_seconds),
    }).prefault({}),
    HISTORY: table({
      // Badges read the hours of up to 30 days ago.
      hour_days: integer(31, 3_660).default(90),
      page_hours: integer(1, 10_000).default(HISTORY.page_hours),
      max_statements: integer(4, 10_000).default(HISTORY.max_statements),
      max_seconds: integer(1, 840).default(HISTORY.max_seconds),
    }).prefault({}),
  }
}

const sharding = table({
  ranges: z
    .number({ error: RANGES_RULE })
    .refine((value) => Number.isInteger(Math.log2(value)) && value >= 1 && value <= MAX_RANGES, RANGES_RULE)
    .default(1),
})

const NETWORK_RULE = 'must be an address or a network, such as "203.0.113.7", "203.0.113.0/24" or "2001:db8::/48"'

const network = z.string({ error: NETWORK_RULE }).transform((value, context): Network => {
  const parsed = parseNetwork(value)
  if (parsed !== null) return parsed
  context.addIssue({ code: 'custom', message: NETWORK_RULE })
  return z.NEVER
})

const exclude = table({ networks: z.array(network, { error: 'must be a list of networks' }).default([]) })

/** Budgets that are too small for the ranges. */
function tooFewStatements(
  of: Plan,
  ranges: number,
  rollUpSettings: RollUpSettings,
  pruningSettings: PruningSettings,
): FieldError[] {
  const least = { ROLLUP: leastRollUpStatements(ranges), PRUNING: 1 + ranges }
  const given = { ROLLUP: rollUpSettings.maxStatements, PRUNING: pruningSettings.maxStatements }
  const advice = of === 'free' ? ': several ranges need PLAN = "paid"' : ''
  return (['ROLLUP', 'PRUNING'] as const)
    .filter((name) => given[name] < least[name])
    .map((name) => ({
      field: `${name}.max_statements`,
      message: `must be at least ${least[name]}, because SHARDING.ranges is ${ranges}${advice}`,
    }))
}

/** A binding that has a method. */
const binding = <T>(method: keyof T & string, what: string) =>
  z
    .custom<T>((value) => typeof (value as Record<string, unknown> | null)?.[method] === 'function', {
      error: `must be a ${what} in wrangler.toml`,
    })
    .optional()
    .transform((value) => value ?? null)

const rateLimit = binding<RateLimit>('limit', 'rate limiting binding: [[ratelimits]]')
const queue = binding<QueueProducer>('sendBatch', 'queue binding: [[queues.producers]]')
const self = binding<SelfBinding>('fetch', 'service binding: [[services]]')

const settings = z.object({
  DATABASE_URL: z
    .string({ error: 'is missing: set it with `wrangler secret put DATABASE_URL`, or in .dev.vars' })
    .superRefine((value, context) => {
      const problem = databaseUrlProblem(value)
      if (problem !== null) context.addIssue({ code: 'custom', message: problem })
    }),
  API_TOKEN: z
    .string({ error: 'is missing: set it with `wrangler secret put API_TOKEN`, or in .dev.vars' })
    .regex(/^[\x21-\x7e]+$/, 'must not be empty and have only visible ASCII characters without spaces'),
  API_TOKENS: z.string({ error: 'must be text: a line for each token' }).default(''),
  COUNTERS: counterTypes,
  BATCHES: queue,
  DEAD_BATCHES: queue,
  VISITOR_LIMIT: rateLimit,
  READER_LIMIT: rateLimit,
  SELF: self,
  PLAN: plan,
  SHARDING: sharding.prefault({}),
  EXCLUDE: exclude.prefault({}),
})

const settingsOf = (of: Plan) => settings.extend(budgetsOf(PLANS[of]))

function databaseUrlProblem(value: string): string | null {
  const url = URL.canParse(value) ? new URL(value) : null
  if (url?.protocol === 'mysql:') {
    return 'must start with https://, not mysql://: the Worker speaks PlanetScale’s HTTP API (https://USER:PASSWORD@HOST)'
  }
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return 'must be a URL of the form https://USER:PASSWORD@HOST'
  }
  if (url.username === '' || url.password === '') return 'must name a user and a password: https://USER:PASSWORD@HOST'
  return null
}

/**
 * Checks the Worker's settings, gives them types and fills in defaults.
 *
 * @throws {ConfigurationError} naming every setting that is missing or wrong
 */
export function readConfig(bindings: Bindings): Config {
  const parsed = settingsOf(bindings.PLAN === 'paid' ? 'paid' : 'free').safeParse(bindings)
  const problems = [
    ...(parsed.error ? fieldErrors(parsed.error, 'configuration') : []),
    ...sharedRecordTypes(bindings.COUNTERS),
  ]
  if (!parsed.success || problems.length > 0) throw new ConfigurationError(problems)
  const { data } = parsed
  const { tokens, problems: wrongTokens } = readTokens(data.API_TOKENS, (name) => data.COUNTERS.has(name))
  const conflicts = [
    ...wrongTokens,
    ...outlivesPruning(data.COUNTERS.values(), data.PRUNING.idempotencyHours),
    ...tooFewStatements(data.PLAN, data.SHARDING.ranges, data.ROLLUP, data.PRUNING),
  ]
  if (conflicts.length > 0) throw new ConfigurationError(conflicts)
  return {
    databaseUrl: data.DATABASE_URL,
    apiToken: data.API_TOKEN,
    tokens,
    batches: data.BATCHES,
    deadBatches: data.DEAD_BATCHES,
    rateLimit: data.VISITOR_LIMIT,
    plan: data.PLAN,
    readLimit: data.READER_LIMIT,
    self: data.SELF,
    types: data.COUNTERS,
    rollUp: data.ROLLUP,
    pruning: data.PRUNING,
    history: data.HISTORY,
    ranges: data.SHARDING.ranges,
    ownNetworks: data.EXCLUDE.networks,
  }
}
