import type { BackgroundTask, StoppedBy } from '../counters/background-runs.ts'
import { DAY_MS, startOf } from '../counters/calendar.ts'
import { MAX_COUNTED, mostSlotsPerRun } from '../counters/rollup/roll-up.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { NOT_STRICT } from '../database/server-statistics.ts'
import { VERSION } from '../generated.ts'
import { HIT_REASONS } from '../hit-reasons.ts'
import type { Isolate } from '../isolate.ts'
import type { Plan } from '../plans.ts'
import { problemOf } from '../service/problem.ts'
import { visibleKey } from '../visible-key.ts'
import type { Missing, Survey } from './survey.ts'

/** Seconds without a roll-up, or without one that caught up: five runs. */
const MAX_BEHIND_SECONDS = 300
/** Seconds after the tables were made in which the first roll-up is not missing yet: cron triggers start late. */
const GRACE_SECONDS = 180
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
  'A run was interrupted: by an outage of the database, or by the platform because it took too much processor time, of which PLAN = "paid" has more.'

export const FINDING_CODES = [
  'database_unavailable',
  'database_not_ready',
  'breaker_open',
  'write_failed',
  'rollup_missing',
  'rollup_failed',
  'rollup_behind',
  'counters_stuck',
  'sums_disagree',
  'batches_dead',
  'pruning_behind',
  'history_behind',
  'too_few_ranges',
  'not_strict',
  'example_origin',
  'wrong_setting',
] as const

export interface Finding {
  code: (typeof FINDING_CODES)[number]
  /** What it means and what to do. */
  detail: string
}

const NO_QUEUE = 'No queue is bound, so an outage of the database loses hits. See the queues in wrangler.toml.'

/** The status, from a survey of the database and from this isolate's state. `unavailable` explains members that are `null`. */
export function statusReport(found: Survey, isolate: Isolate, now: Date) {
  const { config, mistakes, breakers, counting, reads, ignoredHits } = isolate
  const { rollUp, slots, verification, runs } = found
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
    rollUp: {
      running: rollUp === null ? null : (rollUp?.leased ?? false),
      lastRunAt: rollUp?.lastRunAt?.toISOString() ?? null,
      caughtUpAt: caughtUpAt?.toISOString() ?? null,
      behindSeconds: caughtUpAt && secondsSince(caughtUpAt, now),
    },
    verification: verification && {
      agreedAt: verification.agreedAt?.toISOString() ?? null,
      wrong: verification.found,
    },
    deadBatches: runs && { count: runs.deadBatches.count, lastAt: runs.deadBatches.lastAt?.toISOString() ?? null },
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
    types: [...config.types.values()].map(({ name, title, unit, url, also, recordType, sameKey }) => {
      return { name, title, unit, url, also: also[0]?.name ?? null, recordType, sameKey }
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
    backlogProblem,
    pruningProblem,
    historyProblem,
    verificationProblem,
    deadBatchProblem,
  ]
  const { survey, breakers, now } = circumstances
  return [
    ...wrongSettings(circumstances),
    ...hitProblems(survey, breakers, now),
    ...checks.flatMap((check) => check(circumstances) ?? []),
  ]
}

/** Why hits may not be counted, or their counts not rolled up: what /healthz says. `null`: not known, which is another problem. */
export function hitProblems(
  { tables, rollUp }: Pick<Survey, 'tables' | 'rollUp'>,
  breakers: Isolate['breakers'],
  now: Date,
): Finding[] {
  const found: Finding[] = []
  if (tables !== null && tables.pending.length > 0) {
    const names = tables.pending.map(({ name }) => name).join(', ')
    const detail = `These migrations are pending: ${names}. Make the tables on the front page, or run npm run migrate.`
    found.push({ code: 'database_not_ready', detail })
  }
  if (breakers.some(({ writeFailed }) => writeFailed)) {
    const detail =
      'The last statement with which this isolate wrote failed. Either the database accepts no writes (is its disk full?), or it could not be reached. This ends with the next such statement that succeeds: with the next hit that is counted.'
    found.push({ code: 'write_failed', detail })
  }
  const lastRun = secondsSince(rollUp?.lastRunAt, now)
  if (rollUp?.stoppedBy === 'failure') {
    const detail = 'The last roll-up failed. The next one begins within a minute. Look for scheduled_failed in the log.'
    found.push({ code: 'rollup_failed', detail })
  } else if (rollUp !== null && lastRun > MAX_BEHIND_SECONDS && !isNew(rollUp, tables, now)) {
    const hint = rollUp?.stoppedBy === 'interruption' ? ` ${INTERRUPTED}` : ''
    const detail = `No roll-up has finished ${span(lastRun)}. It should run every minute.${hint} Look for rollup and scheduled_failed in the log, and for crons in wrangler.toml.`
    found.push({ code: 'rollup_missing', detail })
  }
  return found
}

/** Whether the tables have just been made, so that the first roll-up is still to come. */
function isNew(rollUp: Survey['rollUp'], tables: Survey['tables'], now: Date): boolean {
  return !rollUp?.caughtUpAt && secondsSince(tables?.madeAt, now) < GRACE_SECONDS
}

/** What to do about runs that a budget of the plan ends. */
function adviceOn(plan: Plan): Record<StoppedBy, string> {
  const remedy = plan === 'free' ? 'Set PLAN = "paid".' : 'See docs/scale.md: a larger database, or shards.'
  return { statements: `A run has too few statements. ${remedy}`, seconds: `A run has too few seconds. ${remedy}` }
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

/** The problem if the state of the roll-up could not be read, or not every table and column. */
function databaseProblem({ survey: { missing } }: Circumstances): Finding | null {
  const lost = missing.find(({ part }) => part === 'rollUp' || part === 'tables')
  if (lost === undefined) return null
  if (lost.error instanceof DatabaseFailure) {
    const { code, detail } = problemOf(lost.error)
    const found = FINDING_CODES.find((known) => known === code)
    if (found !== undefined) return { code: found, detail }
  }
  return { code: 'database_unavailable', detail: 'The tables could not be read. The log has the error.' }
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

function backlogProblem({ survey: { rollUp, slots, tables }, config, now }: Circumstances): Finding | null {
  const { rollUp: settings, ranges, plan } = config
  if (!rollUp || isNew(rollUp, tables, now)) return null
  const [lastRun, behind] = [rollUp.lastRunAt, rollUp.caughtUpAt].map((at) => secondsSince(at, now)) as [number, number]
  const { stoppedBy } = rollUp
  if (lastRun > MAX_BEHIND_SECONDS || behind <= MAX_BEHIND_SECONDS || stoppedBy === 'failure') return null
  // Runs reach the end and little is pending, but some of it stays pending.
  if (
    rollUp.cursor === null &&
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
        : `Runs end before they have moved everything. ${adviceOn(plan)[stoppedBy]}`
  return { code: 'rollup_behind', detail: `The roll-up has not caught up ${span(behind)}. ${why}` }
}

function pruningProblem({ survey: { slots, runs }, config: { plan }, now }: Circumstances): Finding | null {
  const late = slots?.overdueHours ?? 0
  if (late <= MAX_PRUNING_LAG_HOURS) return null
  const causes = {
    event: 'prune',
    ...adviceOn(plan),
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
    ...adviceOn(plan),
    none: 'The remaining ones have no day in the history (kept in the log): run npm run verify.',
  }
  const detail = `Some hours of the history should have been deleted ${Math.floor(late)} days ago. ${reasonOf(runs, 'expiry', causes, now)}`
  return { code: 'history_behind', detail }
}

function verificationProblem({ survey: { verification } }: Circumstances): Finding | null {
  const wrong = verification?.found ?? []
  if (wrong.length === 0) return null
  const list = wrong.map(({ type, recordType, recordId, key, what, start, is, shouldBe }) => {
    const of = recordId === null ? 'all counters' : visibleKey(key ?? `record_id ${recordId}`)
    return `${what}${start === null ? '' : ` ${start}`} of ${type ?? `record_type ${recordType}`} ${of}: ${is} instead of ${shouldBe}`
  })
  const detail = `The daily verification found sums that do not agree: ${list.join('; ')}. npm run verify lists all of them, and npm run repair corrects them.`
  return { code: 'sums_disagree', detail }
}

function deadBatchProblem({ survey: { runs }, now }: Circumstances): Finding | null {
  const { count, lastAt } = runs?.deadBatches ?? { count: 0, lastAt: null }
  if (secondsSince(lastAt, now) > DEAD_BATCH_DAYS * 86_400) return null
  const detail = `Batches died in the queue (${count} until now, the last at ${lastAt!.toISOString()}), so their hits are not counted. Look for batch_dead in the log.`
  return { code: 'batches_dead', detail }
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
