import { type Config, PRUNING_CRON, ROLL_UP_CRON } from './config/config.ts'
import type { Bindings } from './config/read-settings.ts'
import { recordRun } from './counters/background-runs.ts'
import { expireHours, leastExpiryStatements } from './counters/history/expire-hours.ts'
import { pruneNames } from './counters/keys/names.ts'
import { pruneBudgets } from './counters/keys/new-key-budgets.ts'
import { prune } from './counters/rollup/prune.ts'
import { continueRound, LEAST_ROUND_STATEMENTS } from './counters/verify/daily-round.ts'
import { MAX_VERIFIED } from './counters/verify/verify-page.ts'
import { consume, type Delivery } from './counters/write/queue.ts'
import { type CountedDatabase, countStatements } from './database/database.ts'
import { withRetries } from './database/retry-and-breaker.ts'
import { type Isolate, isolateOf, openBackgroundDatabase, rollUpNow } from './isolate.ts'
import { log } from './log.ts'
import { FREE_SUBREQUESTS } from './plans.ts'
import { deleteOldSalts } from './visits/salts.ts'

/** A counter has several rows in each of four tables. So a page of them takes about as long as one of slots. */
const SLOTS_PER_VERIFIED = 4
/** After pruning and expiry, which may take 100 s: the next run begins after 120. */
const VERIFICATION_SECONDS = 15

/** A run of a cron trigger, and what its tasks know of each other. */
interface Run {
  isolate: Isolate
  config: Config
  recordTypes: readonly number[]
  /** Counts the statements of all tasks. */
  db: CountedDatabase
  /** The scheduled time. */
  at: Date
  /** Salts that were deleted; `null`: that failed. */
  salts: number | null
  /** Whether no hour is left that should have been deleted. */
  expired: boolean
}

type Task = [
  name: string,
  /** The most statements, after those that earlier tasks of the run have sent. */
  budget: (config: Config, sent: number) => number,
  run: (run: Run, maxStatements: number) => Promise<void>,
]

/** What the cron triggers run, in this order. If a task fails, the next ones run nevertheless: other tables must not grow. */
const TASKS: Record<string, readonly Task[]> = {
  [ROLL_UP_CRON]: [['roll-up', ({ rollUp }) => rollUp.maxStatements, runRollUp]],
  [PRUNING_CRON]: [
    ['salts', () => 1, forgetSalts],
    // At least one page.
    ['slots', ({ pruning, ranges }, sent) => Math.max(pruning.maxStatements - sent, 1 + ranges), pruneSlots],
    ['budgets of new keys', ({ ranges }) => ranges, ({ db, recordTypes }) => pruneBudgets(db, recordTypes)],
    ['names', ({ ranges }) => 1 + 2 * ranges, ({ db }) => pruneNames(withRetries(db))],
    ['hours', expiryBudget, expire],
    ['sums', verificationBudget, verify],
  ],
}

/**
 * Runs the tasks of a cron expression and logs them.
 * @param at the scheduled time of the run
 * @throws {Error} for an unknown expression, and what the first failed task throws: the platform then records a failure
 */
export async function runScheduled(bindings: Bindings, cron: string, at: Date): Promise<void> {
  const isolate = isolateOf(bindings)
  const { config } = isolate
  const recordTypes = [...config.types.values()].map(({ recordType }) => recordType)
  const db = countStatements(openBackgroundDatabase(isolate))
  const run: Run = { isolate, config, recordTypes, db, at, salts: null, expired: false }
  const tasks = TASKS[cron] ?? [unknownTask(cron)]
  const errors: unknown[] = []
  for (const [task, budget, work] of tasks) {
    await work(run, budget(config, db.sent)).catch((error: unknown) => {
      errors.push(error)
      log('error', 'scheduled_failed', { cron, task, error: String(error) })
    })
  }
  if (errors.length > 0) throw errors[0]
}

function unknownTask(cron: string): Task {
  const message = `no task for cron expression "${cron}": "${ROLL_UP_CRON}" rolls up, "${PRUNING_CRON}" prunes`
  return ['unknown', () => 0, () => Promise.reject(new Error(message))]
}

async function runRollUp({ isolate, at }: Run): Promise<void> {
  const summary = await rollUpNow(isolate, at)
  log(summary.stuck > 0 ? 'error' : 'info', 'rollup', { scheduled: at.toISOString(), ...summary })
}

async function forgetSalts(run: Run): Promise<void> {
  run.salts = run.config.mayExpire ? await deleteOldSalts(run.db, run.config.longestWindow) : 0
}

async function pruneSlots({ config, db, at, salts }: Run, maxStatements: number): Promise<void> {
  const summary = await prune(db, { ...config.pruning, maxStatements })
  // Partial runs are normal: all slots of an hour may be due at once. GET /v1/status warns if it takes too long.
  log('info', 'prune', { scheduled: at.toISOString(), ...summary, salts })
  await recordRun(withRetries(db), 'pruning', summary.stoppedBy)
}

/** At least one page of counters and one of types, and how it ended. */
function expiryBudget({ history, ranges }: Config, sent: number): number {
  return Math.max(history.maxStatements - sent - 1, leastExpiryStatements(ranges))
}

async function expire(run: Run, maxStatements: number): Promise<void> {
  const { config, recordTypes, db, at } = run
  // A wrong setting hides how long hours are kept.
  run.expired = !config.mayExpire
  if (run.expired) return
  const summary = await expireHours(db, { ...config.history, maxStatements, recordTypes, at })
  run.expired = summary.stoppedBy === null
  // `kept` counts hours whose day is missing.
  log(summary.kept > 0 ? 'warn' : 'info', 'expire', { scheduled: at.toISOString(), ...summary })
  await recordRun(withRetries(db), 'expiry', summary.stoppedBy)
}

/** At least a page, unless the run would exceed the free plan by that. */
function verificationBudget({ plan, history }: Config, sent: number): number {
  const least = plan === 'free' ? Math.min(LEAST_ROUND_STATEMENTS, FREE_SUBREQUESTS - sent) : LEAST_ROUND_STATEMENTS
  return Math.max(history.maxStatements - sent, least)
}

/** Continues the day's check of all sums. */
async function verify({ config, db, at, expired }: Run, maxStatements: number): Promise<void> {
  if (!expired || maxStatements < LEAST_ROUND_STATEMENTS) return
  const limit = Math.max(1, Math.min(MAX_VERIFIED, Math.floor(config.pruning.pageSlots / SLOTS_PER_VERIFIED)))
  const { hourDays } = config.history
  const summary = await continueRound(db, { at, hourDays, limit, maxStatements, maxSeconds: VERIFICATION_SECONDS })
  if (summary === null) return
  log(summary.outcome === 'wrong' ? 'error' : 'info', 'verify', { scheduled: at.toISOString(), ...summary })
}

/** Counts the batches that the queue delivers. Logs a summary, and each batch that can never be counted. */
export async function runQueued(bindings: Bindings, deliveries: readonly Delivery[]): Promise<void> {
  const isolate = isolateOf(bindings)
  const { pruning, deadBatches } = isolate.config
  const context = {
    db: openBackgroundDatabase(isolate),
    idempotencyHours: pruning.idempotencyHours,
    deadLetters: deadBatches,
  }
  const { dead, ...counts } = await consume(context, deliveries, new Date())
  for (const letter of dead) log('error', 'batch_dead', { ...letter })
  log(counts.retried > 0 ? 'warn' : 'info', 'queue', { ...counts, dead: dead.length })
}
