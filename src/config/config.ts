import * as z from 'zod/mini'
import { MAX_RANGES } from '../counters/ranges.ts'
import { leastRollUpStatements } from '../counters/rollup/roll-up.ts'
import type { QueueProducer } from '../counters/write/queue.ts'
import { type FieldError, fieldErrors } from '../field-errors.ts'
import { type Network, parseNetwork } from '../visits/network.ts'
import type { RateLimit } from '../visits/rate-limit.ts'
import { type Bindings, basePath, OPTIONS } from './bindings.ts'
import { wrongCompanions } from './companions.ts'
import { counterTypes, outlivesPruning, sharedRecordTypes, text } from './counter-types.ts'
import { integer, optionalTable, orNull, table } from './fields.ts'
import { PLANS, type Plan, plan } from './plan.ts'
import { readTokens } from './tokens.ts'

/** The cron expressions of wrangler.toml. */
export const ROLL_UP_CRON = '* * * * *'
export const PRUNING_CRON = '*/2 * * * *'

const RULE = 'must be the cron expression of a trigger, five fields such as "*/2 * * * *"'

const cron = (by: string) =>
  z._default(z.string({ error: RULE }).check(z.refine((value) => /^\S+(?: \S+){4}$/.test(value), RULE)), by)

/** The triggers of the tasks. One run has too few statements for both. */
const crons = z.prefault(
  table({ roll_up: cron(ROLL_UP_CRON), pruning: cron(PRUNING_CRON) }).check(
    z.refine(({ rollUp, pruning }) => rollUp !== pruning, {
      path: ['pruning'],
      error: 'must differ from CRONS.roll_up: each task needs its own run',
    }),
  ),
  {},
)

/** All errors in the settings, with the names that bindings have in `env`. Never contains a value. */
export class ConfigurationError extends Error {
  readonly problems: readonly FieldError[]
  constructor(bindings: Bindings, found: readonly FieldError[]) {
    const inEnv = bindings[OPTIONS]?.bindings ?? {}
    const problems = found.map(({ field, message }) => {
      const name = inEnv[field] ?? field
      return { field: name, message: message.replaceAll(field, name) }
    })
    super(`The configuration has errors: ${problems.map(({ field, message }) => `${field} ${message}`).join('; ')}`)
    this.name = 'ConfigurationError'
    this.problems = problems
  }
}

const RANGES_RULE = `must be a power of two from 1 to ${MAX_RANGES}, and at least the number of shards`

/** The budgets of the background tasks. The defaults are the plan's. */
function budgetsOf(preset: (typeof PLANS)[Plan]) {
  const { ROLLUP, PRUNING, HISTORY } = preset
  return {
    // 10 for a page and 4 around the pages (src/counters/rollup/roll-up.ts).
    ROLLUP: optionalTable({
      page_slots: z._default(integer(1, 20_000), ROLLUP.page_slots),
      max_statements: z._default(integer(14, 10_000), ROLLUP.max_statements),
      max_seconds: z._default(integer(1, 840), ROLLUP.max_seconds),
    }),
    PRUNING: optionalTable({
      // In hours: rows carry the hour in which they were last written.
      idempotency_hours: z._default(integer(1, 24 * 365), 24),
      page_slots: z._default(integer(1, 10_000), PRUNING.page_slots),
      max_statements: z._default(integer(2, 10_000), PRUNING.max_statements),
      max_seconds: z._default(integer(1, 840), PRUNING.max_seconds),
    }),
    HISTORY: optionalTable({
      // Badges read the hours of up to 30 days ago.
      hour_days: z._default(integer(31, 3_660), 90),
      page_hours: z._default(integer(1, 10_000), HISTORY.page_hours),
      max_statements: z._default(integer(4, 10_000), HISTORY.max_statements),
      max_seconds: z._default(integer(1, 840), HISTORY.max_seconds),
    }),
  }
}

const sharding = optionalTable({
  ranges: z._default(
    z
      .number({ error: RANGES_RULE })
      .check(z.refine((value) => Number.isInteger(Math.log2(value)) && value >= 1 && value <= MAX_RANGES, RANGES_RULE)),
    1,
  ),
})

const NETWORK_RULE = 'must be an address or a network, such as "203.0.113.7", "203.0.113.0/24" or "2001:db8::/48"'

const network = z.pipe(
  z.string({ error: NETWORK_RULE }),
  z.transform((value, context): Network => {
    const parsed = parseNetwork(value)
    if (parsed !== null) return parsed
    context.issues.push({ code: 'custom', message: NETWORK_RULE, input: value })
    return z.NEVER
  }),
)

const exclude = optionalTable({ networks: z._default(z.array(network, { error: 'must be a list of networks' }), []) })

function tooFewStatements({ PLAN, SHARDING: { ranges }, ROLLUP, PRUNING }: z.output<Schema>): FieldError[] {
  const budgets = [
    { name: 'ROLLUP', given: ROLLUP, least: leastRollUpStatements(ranges) },
    { name: 'PRUNING', given: PRUNING, least: 1 + ranges },
  ]
  const advice = PLAN === 'free' && ranges > 1 ? ': several ranges need PLAN = "paid"' : ''
  return budgets
    .filter(({ given, least }) => given.maxStatements < least)
    .map(({ name, least }) => ({
      field: `${name}.max_statements`,
      message: `must be at least ${least}, because SHARDING.ranges is ${ranges}${advice}`,
    }))
}

const binding = <T>(method: keyof T & string, what: string) =>
  orNull(
    z.custom<T>((value) => typeof (value as Record<string, unknown> | null)?.[method] === 'function', {
      error: `must be a ${what} in wrangler.toml`,
    }),
  )

const rateLimit = binding<RateLimit>('limit', 'rate limiting binding: [[ratelimits]]')
const queue = binding<QueueProducer>('sendBatch', 'queue binding: [[queues.producers]]')

const settings = z.object({
  DATABASE_URL: z
    .string({ error: 'is missing: set it with `wrangler secret put DATABASE_URL`, or in .dev.vars' })
    .check(
      z.superRefine((value, context) => {
        const problem = databaseUrlProblem(value)
        if (problem !== null) context.addIssue({ code: 'custom', message: problem })
      }),
    ),
  API_TOKEN: z
    .string({ error: 'is missing: set it with `wrangler secret put API_TOKEN`, or in .dev.vars' })
    .check(z.regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters, without spaces')),
  API_TOKENS: z._default(z.string({ error: 'must be text with a line for each token' }), ''),
  COUNTERS: counterTypes,
  BATCHES: queue,
  DEAD_BATCHES: queue,
  VISITOR_LIMIT: rateLimit,
  READER_LIMIT: rateLimit,
  NEW_KEY_LIMIT: rateLimit,
  BASE_PATH: basePath,
  SITE: z._default(text(60), 'Slotted Counter'),
  PLAN: plan,
  SHARDING: sharding,
  EXCLUDE: exclude,
  CRONS: crons,
})

const settingsOf = (of: Plan) => z.extend(settings, budgetsOf(PLANS[of]))

type Schema = ReturnType<typeof settingsOf>

export type Settings = z.input<Schema>

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

function unknownOptions({ [OPTIONS]: options }: Bindings, { shape }: Schema): FieldError[] {
  if (options === undefined) return []
  const names = Object.keys(options.bindings).filter((name) => name !== 'ASSETS')
  return [...options.settings, ...names.map((name) => `bindings.${name}`)]
    .filter((field) => !Object.hasOwn(shape, field.replace('bindings.', '')))
    .map((field) => ({ field, message: 'is not known here' }))
}

/** Checks the settings, types them and fills in defaults. @throws {ConfigurationError} with every error */
export function readConfig(bindings: Bindings) {
  const schema = settingsOf(bindings.PLAN === 'paid' ? 'paid' : 'free')
  const parsed = schema.safeParse(bindings)
  const problems = [
    ...unknownOptions(bindings, schema),
    ...(parsed.error ? fieldErrors(parsed.error, 'configuration') : []),
    ...sharedRecordTypes(bindings.COUNTERS),
  ]
  if (!parsed.success || problems.length > 0) throw new ConfigurationError(bindings, problems)
  const { data } = parsed
  const { tokens, problems: wrongTokens } = readTokens(data.API_TOKENS, (name) => data.COUNTERS.has(name))
  const conflicts = [
    ...wrongTokens,
    ...wrongCompanions(data.COUNTERS),
    ...outlivesPruning(data.COUNTERS.values(), data.PRUNING.idempotencyHours),
    ...tooFewStatements(data),
  ]
  if (conflicts.length > 0) throw new ConfigurationError(bindings, conflicts)
  return {
    databaseUrl: data.DATABASE_URL,
    /** The owner's token; `tokens` are all others. */
    apiToken: data.API_TOKEN,
    tokens,
    batches: data.BATCHES,
    deadBatches: data.DEAD_BATCHES,
    /** Of public counting. */
    rateLimit: data.VISITOR_LIMIT,
    /** Of public reading. */
    readLimit: data.READER_LIMIT,
    /** Of look-ups of keys that an isolate does not know. Above it, keys that do not exist are refused. */
    newKeyLimit: data.NEW_KEY_LIMIT,
    /** What pages are headed with. */
    site: data.SITE,
    plan: data.PLAN,
    types: data.COUNTERS,
    rollUp: data.ROLLUP,
    pruning: data.PRUNING,
    history: data.HISTORY,
    /** Into how many ranges record ids are divided. */
    ranges: data.SHARDING.ranges,
    /** Networks whose visits do not count. */
    ownNetworks: data.EXCLUDE.networks,
    crons: data.CRONS,
  }
}

/** The Worker's settings, checked and typed. */
export type Config = Readonly<ReturnType<typeof readConfig>>
