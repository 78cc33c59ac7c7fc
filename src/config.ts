import * as z from 'zod'
import type { Env } from './env.ts'
import { type FieldError, fieldErrors } from './field-errors.ts'

/** One kind of thing that is counted, as `[vars.COUNTERS.<name>]` describes it. */
export interface CounterType {
  name: string
  /** The small integer stored with every row of this type. */
  recordType: number
  /** `string`: keys are names, stored under their hash. `integer`: keys are unsigned 64-bit decimal numbers. */
  key: 'string' | 'integer'
  /** Whether counts may be read without the token. */
  public: boolean
  /** Origins whose pages may count with `POST /hit`; `*` stands for every client. None: the API alone counts. */
  allowedOrigins: readonly string[]
  /** Slots to spread each counter over; `null` gives every writer a slot of its own. */
  slots: number | null
  /** Seconds within which one visitor counts once, 0 for every time; `null` leaves it to what is counted. */
  dedupeSeconds: number | null
  /** Where the downloads of `/d` are, with a slash at its end: a URL, or a path on this host; `null` has none. */
  redirectTo: string | null
  /** Whether automatic clients count as well. */
  countBots: boolean
  /** Whether visitors are not counted whose browser asks for that (DNT, Global Privacy Control). */
  respectDoNotTrack: boolean
}

/** Bounds of one roll-up run. */
export interface RollUpSettings {
  /** Slots read and moved in one transaction. */
  pageSlots: number
  /** Statements one run may send; each is one subrequest of the Worker. */
  maxStatements: number
  /** Seconds after which a run starts no further page. */
  maxSeconds: number
}

/** Bounds of one pruning run. */
export interface PruningSettings {
  /** Hours an empty slot is kept, so that a batch sent again is recognised. */
  idempotencyHours: number
  /** Slots looked at and deleted in one statement. */
  pageSlots: number
  /** Statements one run may send; each is one subrequest of the Worker. */
  maxStatements: number
}

/** How long the history knows hours, and bounds of one folding run. */
export interface HistorySettings {
  /** Days for which hours are kept; what is older is known by the day. */
  hourDays: number
  /** Hours looked at and deleted in one statement. */
  pageHours: number
  /** Statements an hourly run may send, what pruning sent included; each is one subrequest of the Worker. */
  maxStatements: number
}

/** What this Worker uses of a queue that is bound to it. */
export interface QueueProducer {
  send(body: unknown, options: { contentType: 'json' }): Promise<unknown>
  sendBatch(messages: Iterable<{ body: unknown; contentType: 'json' }>): Promise<unknown>
}

/** What this Worker uses of a rate limit that is bound to it. */
export interface RateLimit {
  limit(options: { key: string }): Promise<{ success: boolean }>
}

export interface Config {
  databaseUrl: string
  apiToken: string
  batches: QueueProducer | null
  deadBatches: QueueProducer | null
  rateLimit: RateLimit | null
  types: ReadonlyMap<string, CounterType>
  rollUp: RollUpSettings
  pruning: PruningSettings
  history: HistorySettings
}

/** Thrown by `readConfig`: everything that is wrong with the settings, at once. Names and rules only, never a value. */
export class ConfigurationError extends Error {
  readonly problems: readonly FieldError[]
  constructor(problems: readonly FieldError[]) {
    super(`The configuration has errors: ${problems.map(({ field, message }) => `${field} ${message}`).join('; ')}`)
    this.name = 'ConfigurationError'
    this.problems = problems
  }
}

const integer = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`
  return z.int({ error: message }).min(min, message).max(max, message)
}

const origin = z
  .string({ error: 'must be an origin such as "https://example.com", or "*"' })
  .refine(
    (value) => value === '*' || (URL.canParse(value) && new URL(value).origin === value),
    'must be an origin such as "https://example.com" (scheme and host, no path, no trailing slash), or "*"',
  )

const flag = z.boolean({ error: 'must be true or false' }).default(false)

const REDIRECT_RULE =
  'must be where the files are: "https://files.example.com/dist/", or a path on this host such as "/files/", with a slash at its end and no ? or #'

/** A URL whose path is a folder, written as browsers write it, so that what is put behind it cannot change what it means. */
const folder = z.string({ error: REDIRECT_RULE }).refine((value) => {
  const host = 'http://host.invalid'
  const isPath = value.startsWith('/')
  if (!value.endsWith('/') || /[?#]/.test(value) || !URL.canParse(value, host)) return false
  const { protocol, href } = new URL(value, host)
  return (protocol === 'https:' || protocol === 'http:') && href === (isPath ? host + value : value)
}, REDIRECT_RULE)

/** A table of settings: nothing in it that is not known. */
const table = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, { error: ({ code }) => (code === 'invalid_type' ? 'must be a table of settings' : undefined) })

const counterType = table({
  record_type: integer(1, 65_535),
  key: z.enum(['string', 'integer'], { error: 'must be "string" or "integer"' }).default('string'),
  public: flag,
  allowed_origins: z.array(origin, { error: 'must be a list of origins' }).default([]),
  slots: integer(1, 100_000).optional(),
  // The longest that PRUNING.idempotency_hours can be; the two are compared below.
  dedupe_seconds: integer(0, 24 * 365 * 3_600).optional(),
  redirect_to: folder.optional(),
  count_bots: flag,
  respect_do_not_track: flag,
})

const typeName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,62}$/, 'must be a name of letters, digits, "_" and "-", starting with a letter')

// A roll-up page takes up to 10 statements and the frame around the pages 4 (src/counters/rollup.ts).
const rollUp = table({
  page_slots: integer(1, 20_000).default(2_000),
  max_statements: integer(14, 10_000).default(45),
  max_seconds: integer(1, 840).default(50),
})

const pruning = table({
  // Rows carry the hour they were last written in, so less than one cannot be told.
  idempotency_hours: integer(1, 24 * 365).default(24),
  page_slots: integer(1, 10_000).default(1_000),
  max_statements: integer(2, 10_000).default(45),
})

const historyTable = table({
  // Badges show periods of up to 30 days to the hour.
  hour_days: integer(31, 3_660).default(90),
  page_hours: integer(1, 10_000).default(1_000),
  max_statements: integer(4, 10_000).default(49),
})

const queue = z
  .custom<QueueProducer>((value) => typeof (value as Partial<QueueProducer> | null)?.sendBatch === 'function', {
    error: 'must be a queue binding: [[queues.producers]] in wrangler.toml',
  })
  .optional()

const rateLimit = z
  .custom<RateLimit>((value) => typeof (value as Partial<RateLimit> | null)?.limit === 'function', {
    error: 'must be a rate limiting binding: [[ratelimits]] in wrangler.toml',
  })
  .optional()

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
  COUNTERS: z
    .record(typeName, counterType, {
      error: ({ code, input }) => {
        if (code !== 'invalid_type') return undefined
        if (input === undefined) return 'is missing: add a [vars.COUNTERS.<name>] table to wrangler.toml'
        return 'must hold a table for each type: [vars.COUNTERS.<name>]'
      },
    })
    .refine((types) => Object.keys(types).length > 0, 'must name at least one type'),
  BATCHES: queue,
  DEAD_BATCHES: queue,
  VISITOR_LIMIT: rateLimit,
  ROLLUP: rollUp.prefault({}),
  PRUNING: pruning.prefault({}),
  HISTORY: historyTable.prefault({}),
})

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

/** Types that have a record type in common. Looked for in the raw settings: other mistakes must not hide this one. */
function sharedRecordTypes(counters: unknown): FieldError[] {
  const owners = new Map<unknown, string>()
  return Object.entries(counters ?? {}).flatMap(([name, settings]) => {
    const recordType = (settings as { record_type?: unknown } | null)?.record_type
    const owner = owners.get(recordType)
    if (recordType === undefined || owner === undefined) {
      owners.set(recordType, name)
      return []
    }
    return [
      {
        field: `COUNTERS.${name}.record_type`,
        message: `is the same as that of ${owner}: every type needs one of its own`,
      },
    ]
  })
}

/** Types whose visitors would be forgotten within their window. Looked for once everything else is right. */
function forgetful(types: Iterable<CounterType>, { idempotencyHours }: PruningSettings): FieldError[] {
  return [...types]
    .filter(({ dedupeSeconds }) => (dedupeSeconds ?? 0) > idempotencyHours * 3_600)
    .map(({ name }) => ({
      field: `COUNTERS.${name}.dedupe_seconds`,
      message: `must be at most ${idempotencyHours * 3_600}: visits are recognised for PRUNING.idempotency_hours, which is ${idempotencyHours}`,
    }))
}

/**
 * Checks the Worker's settings and gives them types and defaults.
 *
 * @throws {ConfigurationError} naming every setting that is missing or wrong
 */
export function readConfig(env: Env): Config {
  const parsed = settings.safeParse(env)
  const problems = [
    ...(parsed.error ? fieldErrors(parsed.error, 'configuration') : []),
    ...sharedRecordTypes(env.COUNTERS),
  ]
  if (!parsed.success || problems.length > 0) throw new ConfigurationError(problems)
  const { DATABASE_URL, API_TOKEN, BATCHES, DEAD_BATCHES, VISITOR_LIMIT, COUNTERS, ROLLUP, PRUNING, HISTORY } =
    parsed.data
  const types = Object.entries(COUNTERS).map(([name, type]): [string, CounterType] => [
    name,
    {
      name,
      recordType: type.record_type,
      key: type.key,
      public: type.public,
      allowedOrigins: type.allowed_origins,
      slots: type.slots ?? null,
      dedupeSeconds: type.dedupe_seconds ?? null,
      redirectTo: type.redirect_to ?? null,
      countBots: type.count_bots,
      respectDoNotTrack: type.respect_do_not_track,
    },
  ])
  const config: Config = {
    databaseUrl: DATABASE_URL,
    apiToken: API_TOKEN,
    batches: BATCHES ?? null,
    deadBatches: DEAD_BATCHES ?? null,
    rateLimit: VISITOR_LIMIT ?? null,
    types: new Map(types),
    rollUp: { pageSlots: ROLLUP.page_slots, maxStatements: ROLLUP.max_statements, maxSeconds: ROLLUP.max_seconds },
    pruning: {
      idempotencyHours: PRUNING.idempotency_hours,
      pageSlots: PRUNING.page_slots,
      maxStatements: PRUNING.max_statements,
    },
    history: {
      hourDays: HISTORY.hour_days,
      pageHours: HISTORY.page_hours,
      maxStatements: HISTORY.max_statements,
    },
  }
  const late = forgetful(config.types.values(), config.pruning)
  if (late.length > 0) throw new ConfigurationError(late)
  return config
}
