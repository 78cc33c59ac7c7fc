import { type BackgroundTask, readRollUpState, readRuns, type StoppedBy } from '../counters/background-runs.ts'
import { DAY_MS, startOf } from '../counters/calendar.ts'
import { readOldestHour } from '../counters/ledger/history-addition.ts'
import { MAX_COUNTED, mostSlotsPerRun, readBacklog } from '../counters/rollup/roll-up.ts'
import type { Database } from '../database/database.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { NOT_STRICT, readServerIdentity, readTables } from '../database/migrations.ts'
import { withRetries } from '../database/retry-and-breaker.ts'
import { VERSION } from '../generated.ts'
import { type Isolate, openConfigured } from '../isolate.ts'
import { log } from '../log.ts'
import { visibleKey } from '../visible-key.ts'
import { problemOf } from './problem.ts'

/** Seconds without a roll-up, or without one that caught up: five runs. */
const MAX_BEHIND_SECONDS = 300
/** Seconds after the tables were made in which the first roll-up is not missing yet: cron triggers start late. */
const GRACE_SECONDS = 180
/** Milliseconds for one part of the status. */
const PART_DEADLINE_MS = 3_000
/** Days for which Cloudflare keeps a dead batch, if nobody changes it. */
const DEAD_BATCH_DAYS = 4
/** Seconds without a run of pruning or expiry: five runs. */
const MAX_SILENCE_SECONDS = 600
/** Hours that slots may outlast the idempotency window. */
const MAX_PRUNING_LAG_HOURS = 3
/** Days that hours may outlast their time. */
const MAX_EXPIRY_LAG_DAYS = 1
/** The placeholder in wrangler.toml for the owner's site. */
const EXAMPLE_ORIGIN = 'https://example.com'

const INTERRUPTED =
  'A run was interrupted, either by a database outage or by the platform’s CPU time limit, which is higher with PLAN = "paid".'

export type Status = Awaited<ReturnType<typeof readStatus>>

/** Reads, in two statements unless they are retried, whether a hit would be counted and rolled up. `problems` say why not. */
export async function readHealth(isolate: Isolate, now: Date) {
  const vitals = await readVitals(isolate, withRetries(pastBreakers(isolate)), now)
  return { problems: findProblems(HEALTH_CHECKS, vitals), failure: vitals.failure }
}

/** Reads the status, in six statements, or eight on Vitess. A number is `null` if it could not be read, or is not there yet. */
export async function readStatus(isolate: Isolate, now: Date, requestId: string) {
  const vitals = await readVitals(isolate, pastBreakers(isolate), now)
  const { slots, runs, ...others } = await readParts(isolate, vitals, requestId)
  const problems = [
    ...wrongSettings(isolate),
    ...findProblems(HEALTH_CHECKS, vitals),
    ...findProblems(OTHER_CHECKS, { ...vitals, ...others, slots, runs }),
  ]
  const { agreedAt = null, found = [] } = runs?.verification ?? {}
  return {
    version: VERSION,
    healthy: problems.length === 0,
    problems,
    pendingSlots: slots?.pending ?? null,
    behindSeconds: vitals.rollUp?.caughtUpAt ? secondsSince(vitals.rollUp.caughtUpAt, now) : null,
    verification: {
      agreedAt: agreedAt?.toISOString() ?? null,
      mismatches: agreedAt === null && found.length === 0 ? null : found.length,
    },
    deadBatches: runs?.deadBatches.count ?? null,
    types: [...isolate.config.types.values()].map(({ name, recordType, sameKey }) => ({ name, recordType, sameKey })),
  }
}

/** Not through a circuit breaker: slow reads are no outage, and those for hits may be closed already. */
const pastBreakers = (isolate: Isolate) => openConfigured(isolate, PART_DEADLINE_MS)

/** Reads what health depends on. `failure`: why something is `undefined`. `rollUp` is `null` before the first one. */
async function readVitals({ breakers, config }: Isolate, db: Database, now: Date) {
  const [states, made] = await Promise.allSettled([readRollUpState(db), readTables(db)])
  const rollUp = states.status === 'fulfilled' ? states.value : undefined
  const tables = made.status === 'fulfilled' ? made.value : undefined
  const failure: unknown = [states, made].find((part) => part.status === 'rejected')?.reason
  return { rollUp, tables, failure, breakers, config, now }
}

/** Reads the rest, unless the database is unavailable. A part that could not be read is `null`, and named. */
async function readParts(isolate: Isolate, { failure }: Vitals, requestId: string) {
  const unread: string[] = []
  const logUnread = (part: string, error: unknown) =>
    log('warn', 'status_incomplete', { requestId, part, error: String(error) })
  if (failure !== undefined) logUnread('health', failure)
  const isDown = failure instanceof DatabaseFailure && ['unavailable', 'credentials'].includes(failure.kind)
  const db = pastBreakers(isolate)
  const attempt = async <Part>(part: string, read: (db: Database) => Promise<Part>) => {
    if (isDown) return null
    return read(db).catch((error: unknown) => {
      logUnread(part, error)
      unread.push(part)
      return null
    })
  }
  const [slots, oldestHour, runs, server] = await Promise.all([
    attempt('slots', readBacklog),
    attempt('history', readOldestHour),
    attempt('runs', readRuns),
    attempt('server', readServerIdentity),
  ])
  return { unread, slots, oldestHour, runs, server }
}

type Vitals = Awaited<ReturnType<typeof readVitals>>
type Found = Vitals & Awaited<ReturnType<typeof readParts>>

/** What each problem means and what to do about it; `null`: there is none. */
type Checks<Of> = Record<string, (found: Of) => string | null>

function findProblems<Of, C extends Checks<Of>>(checks: C, found: Of) {
  return Object.entries(checks).flatMap(([code, check]) => {
    const detail = check(found)
    return detail === null ? [] : [{ code: code as keyof C & string, detail }]
  })
}

const HEALTH_CHECKS = {
  database_unavailable: ({ failure }) =>
    failure === undefined || isSchemaFailure(failure) ? null : problemOf(failure).detail,
  database_not_ready({ failure, tables }) {
    if (isSchemaFailure(failure)) return problemOf(failure).detail
    const pending = tables?.pending.map(({ name }) => name) ?? []
    if (pending.length === 0) return null
    return `These migrations are pending: ${pending.join(', ')}. Make the tables on the front page, or run npm run migrate (npx slotted-counter migrate).`
  },
  write_failed: ({ breakers }) =>
    breakers.some(({ writeFailed }) => writeFailed)
      ? 'The last write of this isolate failed. Either the database refuses writes (is its disk full?), or it could not be reached. The next successful write in the same range, such as a counted hit, clears this problem.'
      : null,
  breaker_open: ({ breakers }) =>
    breakers.some((breaker) => breaker.refuses(Date.now()))
      ? 'Statements keep failing in this isolate, so most are refused without being sent. One is tried every few seconds.'
      : null,
  rollup_failed: ({ rollUp }) =>
    rollUp?.stoppedBy === 'failure'
      ? 'The last roll-up failed. The next one starts within a minute. Look for scheduled_failed in the log.'
      : null,
  rollup_missing(found) {
    const { rollUp, now } = found
    const lastRun = secondsSince(rollUp?.lastRunAt, now)
    if (rollUp === undefined || lastRun <= MAX_BEHIND_SECONDS) return null
    if (rollUp?.stoppedBy === 'failure' || isNew(found)) return null
    const hint = rollUp?.stoppedBy === 'interruption' ? ` ${INTERRUPTED}` : ''
    return `No roll-up has finished ${span(lastRun)}. It should run every minute.${hint} Look for rollup and scheduled_failed in the log, and for crons in wrangler.toml.`
  },
} satisfies Checks<Vitals>

const isSchemaFailure = (error: unknown) => error instanceof DatabaseFailure && error.kind === 'schema'

/** Whether the tables have just been made, so that the first roll-up is still to come. */
function isNew({ rollUp, tables, now }: Vitals): boolean {
  return !rollUp?.caughtUpAt && secondsSince(tables?.madeAt, now) < GRACE_SECONDS
}

const OTHER_CHECKS = {
  status_incomplete: ({ unread }) =>
    unread.length > 0 ? `These parts could not be read: ${unread.join(', ')}. The log has the errors.` : null,
  example_origin({ config }) {
    const types = [...config.types.values()].filter(({ allowedOrigins }) => allowedOrigins.includes(EXAMPLE_ORIGIN))
    if (types.length === 0) return null
    const ofTypes = types.map(({ name }) => `COUNTERS.${name}.allowed_origins`)
    const settings = config.sites.includes(EXAMPLE_ORIGIN) ? ['SITES'] : ofTypes
    return `${settings.join(' and ')} still ${settings.length > 1 ? 'have' : 'has'} ${EXAMPLE_ORIGIN}, so your pages are not counted. Set the origin of your site, and deploy or restart.`
  },
  too_few_ranges({ server, config }) {
    const shards = server?.shards ?? 1
    if (shards <= config.ranges) return null
    return `The keyspace has ${shards} shards, but SHARDING.ranges is ${config.ranges}. Set it to a power of two that is at least the number of shards. Until then, batches and roll-ups may span shards and block each other.`
  },
  not_strict: ({ server }) => (server === null || server.strict ? null : NOT_STRICT),
  counters_stuck: (found) => backlog(found, true),
  rollup_behind: (found) => backlog(found, false),
  pruning_behind(found) {
    const late = found.slots?.overdueHours ?? 0
    if (late <= MAX_PRUNING_LAG_HOURS) return null
    const rest = 'The remaining slots are not empty: the roll-up must move their counts first.'
    return `Some slots should have been pruned ${late} hours ago. ${whyLeft(found, 'pruning', 'prune', rest)}`
  },
  history_behind(found) {
    const { history, mayExpire } = found.config
    const keptSince = startOf('day', new Date(found.now.getTime() - history.hourDays * DAY_MS))
    const late = found.oldestHour ? (keptSince.getTime() - found.oldestHour.getTime()) / DAY_MS : 0
    if (late <= MAX_EXPIRY_LAG_DAYS || !mayExpire) return null
    const rest =
      'The remaining hours belong to no day of the history (`kept` in the log): run npm run verify (npx slotted-counter verify).'
    return `Some hours of the history should have been deleted ${Math.floor(late)} days ago. ${whyLeft(found, 'expiry', 'expire', rest)}`
  },
  sums_disagree({ runs, config }) {
    const names = new Map([...config.types.values()].map(({ recordType, name }) => [recordType, name]))
    const list = runs?.verification.found.map(({ recordType, recordId, key, what, start, is, shouldBe }) => {
      const counter = recordId === null ? 'all counters' : visibleKey(key ?? `record_id ${recordId}`)
      const of = `${names.get(recordType) ?? `record_type ${recordType}`} ${counter}`
      return `${what}${start === null ? '' : ` ${start}`} of ${of}: ${is} instead of ${shouldBe}`
    })
    if (!list?.length) return null
    return `The daily verification found sums that do not agree: ${list.join('; ')}. npm run verify (npx slotted-counter verify) lists all of them, and repair corrects them.`
  },
  batches_dead({ runs, now }) {
    const { count, lastAt } = runs?.deadBatches ?? { count: 0, lastAt: null }
    if (secondsSince(lastAt, now) > DEAD_BATCH_DAYS * 86_400) return null
    return `Batches died in the queue (${count} so far, the last at ${lastAt!.toISOString()}), so their hits are not counted. Look for batch_dead in the log.`
  },
} satisfies Checks<Found>

export const FINDING_CODES = ['wrong_setting', ...Object.keys({ ...HEALTH_CHECKS, ...OTHER_CHECKS })] as (
  | 'wrong_setting'
  | keyof typeof HEALTH_CHECKS
  | keyof typeof OTHER_CHECKS
)[]

function wrongSettings({ mistakes, config, lacksFiles }: Isolate) {
  const found = mistakes.map(({ field, message }) => {
    const of = [...config.stopped].find(([, wrong]) => wrong.some((mistake) => mistake.field === field))?.[0]
    const until = of === undefined ? 'this setting is ignored' : `${of} counts nothing; downloads are still redirected`
    return {
      code: 'wrong_setting' as const,
      detail: `${field} ${message}. Until you correct it and deploy or restart, ${until}.`,
    }
  })
  const detail =
    'ASSETS is not bound, so the script and the pages may lack their files. Restore [assets] in wrangler.toml, and deploy or restart.'
  return lacksFiles ? [...found, { code: 'wrong_setting' as const, detail }] : found
}

/** What is wrong if roll-ups run but do not catch up. `stuck`: they reach the end, but some of the little that is pending stays. */
function backlog(found: Found, stuck: boolean): string | null {
  const { rollUp, slots, config, now } = found
  if (!rollUp || isNew(found) || rollUp.stoppedBy === 'failure') return null
  const behind = secondsSince(rollUp.caughtUpAt, now)
  if (behind <= MAX_BEHIND_SECONDS || secondsSince(rollUp.lastRunAt, now) > MAX_BEHIND_SECONDS) return null
  const few = Math.min(MAX_COUNTED, mostSlotsPerRun(config.rollUp, config.ranges))
  const isDone = rollUp.cursor === null && rollUp.stoppedBy === null
  if (stuck !== (isDone && slots !== null && slots.pending < few)) return null
  if (stuck) {
    return `Roll-ups complete but have not moved all counts ${span(behind)}. Either totals are at the 64-bit limit (\`stuck\` in the log), or runs fail.`
  }
  const reasons = { ...budgetAdvice(found), interruption: INTERRUPTED, unknown: 'The log says why runs fail.' }
  return `The roll-up has not caught up ${span(behind)}. ${reasons[rollUp.stoppedBy ?? 'unknown']}`
}

/** Why a task leaves something. @param event the one that logs its runs @param rest why, if a run did all of its work */
function whyLeft(found: Found, task: BackgroundTask, event: string, rest: string): string {
  if (found.runs === null) return `Look for ${event} in the log.`
  const run = found.runs[task]
  const silence = secondsSince(run?.finishedAt, found.now)
  if (run === undefined || silence > MAX_SILENCE_SECONDS) {
    return `No run has finished ${span(silence)}. It should run every two minutes. Look for ${event} and scheduled_failed in the log, and for crons in wrangler.toml.`
  }
  return run.stoppedBy === null ? rest : budgetAdvice(found)[run.stoppedBy]
}

/** What to do about runs that a budget of the plan ends. */
function budgetAdvice({ config }: Found): Record<StoppedBy, string> {
  const remedy = config.plan === 'free' ? 'Set PLAN = "paid".' : 'See docs/scale.md: a larger database, or shards.'
  const advice = (budget: StoppedBy) => `Runs exhaust their budget of ${budget} before they are done. ${remedy}`
  return { statements: advice('statements'), seconds: advice('seconds') }
}

/** Never negative, whatever the clocks say. Infinite without a time. */
function secondsSince(time: Date | null | undefined, now: Date): number {
  return time ? Math.max(0, Math.round((now.getTime() - time.getTime()) / 1_000)) : Number.POSITIVE_INFINITY
}

function span(seconds: number): string {
  return Number.isFinite(seconds) ? `for ${seconds} s` : 'yet'
}
