import { PLANS, type Plan } from '../config/config.ts'
import type { BackgroundTask, StoppedBy } from '../counters/background-runs.ts'
import { DAY_MS, startOf } from '../counters/calendar.ts'
import { MAX_COUNTED, mostSlotsPerRun } from '../counters/rollup/roll-up.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { NOT_STRICT } from '../database/server-statistics.ts'
import { VERSION } from '../generated.ts'
import { HIT_REASONS } from '../hit-reasons.ts'
import type { Isolate } from '../isolate.ts'
import { problemOf } from '../service/problem.ts'
import type { Missing, Survey } from './survey.ts'

/** Seconds without a roll-up, or without one that caught up: five runs. */
const MAX_BEHIND_SECONDS = 300
/** Seconds after the tables were made in which the first roll-up is not missing yet: cron triggers start late. */
const GRACE_SECONDS = 180
/** Seconds without a run of pruning or expiry: five runs. */
const MAX_SILENCE_SECONDS = 600
/** Hours that slots may outlast the idempotency window. */
const MAX_PRUNING_LAG_HOURS = 3
/** Days that hours may outlast their time. */
const MAX_EXPIRY_LAG_DAYS = 1
/** The placeholder in wrangler.toml for the owner's site. */
const EXAMPLE_ORIGIN = 'https://example.com'

const INTERRUPTED =
  'A run was interrupted: by an outage of the database, or by the platform because it took too much processor time. Against that, set PLAN = "paid", or lower ROLLUP.page_slots.'

export const FINDING_CODES = [
  'database_unavailable',
  'database_not_ready',
  'breaker_open',
  'rollup_missing',
  'rollup_behind',
  'counters_stuck',
  'pending_above_bound',
  'pruning_behind',
  'history_behind',
  'too_few_ranges',
  'not_strict',
  'example_origin',
  'wrong_setting',
] as const

interface Finding {
  code: (typeof FINDING_CODES)[number]
  /** What it means and what to do. */
  detail: string
}

const NO_QUEUE = 'No queue is bound, so an outage of the database loses hits. See the queues in wrangler.toml.'

/** The status, from a survey of the database and from this isolate's state. `unavailable` explains members that are `null`. */
export function statusReport(found: Survey, isolate: Isolate, now: Date) {
  const { config, mistakes, breakers, counting, reads, ignoredHits } = isolate
  const { rollUp, slots, server, tables, locks, oldestHour } = found
  const problems = findingsOf({ survey: found, config, mistakes, breakers, now })
  const caughtUpAt = rollUp?.caughtUpAt ?? null
  return {
    version: VERSION,
    healthy: problems.length === 0,
    problems,
    notes: config.batches === null ? [NO_QUEUE] : [],
    unavailable: found.missing.map(({ part, error }) => ({ part, reason: whyMissing(error) })),
    pendingSlots: slots?.pending ?? null,
    pendingSlotsAtLeast: slots?.pending === MAX_COUNTED,
    prunableSlots: slots?.prunable ?? null,
    prunableSlotsAtLeast: slots?.prunable === MAX_COUNTED,
    rollUp: {
      running: rollUp === null ? null : (rollUp?.leased ?? false),
      lastRunAt: rollUp?.lastRunAt?.toISOString() ?? null,
      caughtUpAt: caughtUpAt?.toISOString() ?? null,
      behindSeconds: caughtUpAt && secondsSince(caughtUpAt, now),
    },
    history: oldestHour === null ? null : { oldestHour: oldestHour?.toISOString() ?? null },
    database: {
      version: server?.version ?? null,
      isolation: server?.isolation ?? null,
      latencyMs: found.latencyMs && Math.round(found.latencyMs * 10) / 10,
    },
    contention: locks && { ...locks, since: locks.since.toISOString() },
    sizes: tables && { estimated: true, tables },
    isolate: {
      breaker: breakers.some(({ open }) => open) ? ('open' as const) : ('closed' as const),
      counting: counting.load,
      reading: reads.load(),
      ignored: ignoredHits.list().map((hit) => ({ ...hit, ...HIT_REASONS[hit.reason], at: hit.at.toISOString() })),
    },
    rateLimits: {
      counting: config.rateLimit !== null,
      reading: config.readLimit !== null,
      newKeys: config.newKeyLimit !== null,
    },
    types: [...config.types.values()].map(({ name, title, unit, url, also, recordType, key, sameKey }) => {
      return { name, title, unit, url, also, recordType, key, sameKey }
    }),
  }
}

/** Why a part is missing. The log has the database's message. */
function whyMissing(error: Missing['error']): string {
  if (!(error instanceof DatabaseFailure)) return 'not_understood'
  return error.kind === 'rejected' ? 'refused' : problemOf(error).code
}

type Circumstances = Pick<Isolate, 'config' | 'mistakes' | 'breakers'> & { survey: Survey; now: Date }

/** Finds problems that need attention. Counts stay exact with all of them, but hits may be refused. */
function findingsOf(circumstances: Circumstances): Finding[] {
  const checks = [
    databaseProblem,
    breakerProblem,
    settingProblem,
    rangeProblem,
    strictnessProblem,
    rollUpProblem,
    boundProblem,
    pruningProblem,
    historyProblem,
  ]
  return [...wrongSettings(circumstances), ...checks.flatMap((check) => check(circumstances) ?? [])]
}

/** What to do about runs that a budget ends. */
function adviceOn(
  table: keyof (typeof PLANS)['free'],
  { maxStatements, maxSeconds }: { maxStatements: number; maxSeconds: number },
  of: Plan,
): Record<StoppedBy, string> {
  const advice = (name: 'max_statements' | 'max_seconds', value: number) => {
    const [preset, paid] = [PLANS[of][table][name], PLANS.paid[table][name]]
    const budget = `${table}.${name} is ${value}`
    if (value < preset) return `${budget}: raise it, or remove it, because PLAN = "${of}" gives ${preset}.`
    if (value < paid) return `${budget}: set PLAN = "paid", which gives ${paid}, or raise it.`
    return `${budget}: raise it, or the size of the pages.`
  }
  return { statements: advice('max_statements', maxStatements), seconds: advice('max_seconds', maxSeconds) }
}

/** One for each mistake: what to write, and what happens until then. */
function wrongSettings({ mistakes, config: { stopped } }: Circumstances): Finding[] {
  return mistakes.map(({ field, message }) => {
    const of = [...stopped].find(([, wrong]) => wrong.some((mistake) => mistake.field === field))?.[0]
    const until =
      of === undefined ? 'this setting is ignored' : `${of} counts nothing; downloads are redirected all the same`
    return { code: 'wrong_setting', detail: `${field} ${message}. Until you correct it and deploy, ${until}.` }
  })
}

/** The problem if not even the state of the roll-up could be read. */
function databaseProblem({ survey: { missing } }: Circumstances): Finding | null {
  const lost = missing.find(({ part }) => part === 'rollUp')
  if (lost === undefined) return null
  if (lost.error instanceof DatabaseFailure) {
    const { code, details } = problemOf(lost.error)
    const found = FINDING_CODES.find((known) => known === code)
    if (found !== undefined) return { code: found, detail: details.detail }
  }
  return { code: 'database_unavailable', detail: 'The state of the roll-up could not be read. The log has the error.' }
}

function breakerProblem({ breakers }: Circumstances): Finding | null {
  if (!breakers.some(({ open }) => open)) return null
  const detail =
    'The database keeps failing in this isolate, so most statements are refused unsent. A trial is sent every few seconds.'
  return { code: 'breaker_open', detail }
}

function settingProblem({ config: { types, sites } }: Circumstances): Finding | null {
  const names = [...types.values()].filter((type) => type.allowedOrigins.includes(EXAMPLE_ORIGIN))
  if (names.length === 0) return null
  const settings = sites.includes(EXAMPLE_ORIGIN)
    ? ['SITES']
    : names.map(({ name }) => `COUNTERS.${name}.allowed_origins`)
  const detail = `${settings.join(' and ')} still ${settings.length > 1 ? 'have' : 'has'} ${EXAMPLE_ORIGIN}, so your pages are not counted. Set the origin of your site, and deploy.`
  return { code: 'example_origin', detail }
}

function rangeProblem({ survey: { server }, config: { ranges } }: Circumstances): Finding | null {
  const shards = server?.shards ?? 1
  if (shards <= ranges) return null
  const detail = `The keyspace has ${shards} shards, but SHARDING.ranges is ${ranges}. Set it to a power of two that is at least the number of shards. Until then, batches and roll-ups may span shards and block each other.`
  return { code: 'too_few_ranges', detail }
}

function strictnessProblem({ survey: { server } }: Circumstances): Finding | null {
  return server === null || server.strict ? null : { code: 'not_strict', detail: NOT_STRICT }
}

function rollUpProblem({ survey: { rollUp, slots, madeAt }, config, now }: Circumstances): Finding | null {
  const { rollUp: settings, ranges, plan } = config
  if (rollUp === null || secondsSince(madeAt, now) < GRACE_SECONDS) return null
  const lastRun = secondsSince(rollUp?.lastRunAt, now)
  if (lastRun > MAX_BEHIND_SECONDS) {
    const hint = rollUp?.stoppedBy === 'interruption' ? ` ${INTERRUPTED}` : ''
    const detail = `No roll-up has finished ${span(lastRun)}. It should run every minute.${hint} Look for rollup and scheduled_failed in the log, and for crons in wrangler.toml.`
    return { code: 'rollup_missing', detail }
  }
  const behind = secondsSince(rollUp?.caughtUpAt, now)
  if (behind <= MAX_BEHIND_SECONDS) return null
  const stoppedBy = rollUp?.stoppedBy ?? null
  // Runs reach the end and little is pending, but some of it stays pending.
  if (
    rollUp?.cursor === null &&
    stoppedBy === null &&
    slots !== null &&
    slots.pending < Math.min(MAX_COUNTED, mostSlotsPerRun(settings, ranges))
  ) {
    const detail = `Roll-ups reach the end but leave some counts pending ${span(behind)}. Either totals are at the 64-bit limit (stuck in the log), or runs fail.`
    return { code: 'counters_stuck', detail }
  }
  const why =
    stoppedBy === null
      ? 'The log says why runs fail.'
      : stoppedBy === 'interruption'
        ? INTERRUPTED
        : `Runs end before they have moved everything. ${adviceOn('ROLLUP', settings, plan)[stoppedBy]}`
  return { code: 'rollup_behind', detail: `The roll-up has not caught up ${span(behind)}. ${why}` }
}

function boundProblem({ survey: { slots }, config: { rollUp, ranges, plan } }: Circumstances): Finding | null {
  const most = mostSlotsPerRun(rollUp, ranges)
  if (slots === null || slots.pending < MAX_COUNTED || most >= MAX_COUNTED) return null
  const detail = `At least ${MAX_COUNTED} slots are pending, and a roll-up moves at most ${most}. ${adviceOn('ROLLUP', rollUp, plan).statements}`
  return { code: 'pending_above_bound', detail }
}

function pruningProblem({ survey: { slots, runs }, config: { pruning, plan }, now }: Circumstances): Finding | null {
  const late = slots?.overdueHours ?? 0
  if (late <= MAX_PRUNING_LAG_HOURS) return null
  const causes = {
    event: 'prune',
    ...adviceOn('PRUNING', pruning, plan),
    none: 'The remaining ones are not empty: they wait for the roll-up.',
  }
  const detail = `Some slots should have been pruned ${late} hours ago. ${reasonOf(runs, 'pruning', causes, now)}`
  return { code: 'pruning_behind', detail }
}

function historyProblem({ survey, config: { history, mayExpire, plan }, now }: Circumstances): Finding | null {
  const { oldestHour, runs } = survey
  const keptSince = startOf('day', new Date(now.getTime() - history.hourDays * DAY_MS))
  const late = oldestHour ? (keptSince.getTime() - oldestHour.getTime()) / DAY_MS : 0
  if (late <= MAX_EXPIRY_LAG_DAYS || !mayExpire) return null
  const causes = {
    event: 'expire',
    ...adviceOn('HISTORY', history, plan),
    none: 'The remaining ones have no day in the history (kept in the log): run npm run verify.',
  }
  const detail = `Some hours of the history should have been deleted ${Math.floor(late)} days ago. ${reasonOf(runs, 'expiry', causes, now)}`
  return { code: 'history_behind', detail }
}

/** What to do by how a task's runs end (`none`: with their work done), and the event that logs them. */
type Causes = Record<StoppedBy | 'none' | 'event', string>

function reasonOf(runs: Survey['runs'], task: BackgroundTask, causes: Causes, now: Date): string {
  if (runs === null) return `Look for ${causes.event} in the log.`
  const run = runs[task]
  const silence = secondsSince(run?.finishedAt, now)
  if (run === undefined || silence > MAX_SILENCE_SECONDS) {
    return `No run has finished ${span(silence)}. It should run every two minutes. Look for ${causes.event} and scheduled_failed in the log, and for crons in wrangler.toml.`
  }
  if (run.stoppedBy === null) return causes.none
  return `Runs end before they have deleted everything. ${causes[run.stoppedBy]}`
}

/** Never negative, whatever the clocks say. Infinite without a time. */
export function secondsSince(time: Date | null | undefined, now: Date): number {
  return time ? Math.max(0, Math.round((now.getTime() - time.getTime()) / 1_000)) : Number.POSITIVE_INFINITY
}

function span(seconds: number): string {
  return Number.isFinite(seconds) ? `for ${seconds} s` : 'yet'
}
