import { PRUNING_CRON, ROLL_UP_CRON } from './config/config.ts'
import type { Bindings } from './config/read-settings.ts'
import { recordRun } from './counters/background-runs.ts'
import { pruneNames } from './counters/keys/names.ts'
import { pruneBudgets } from './counters/keys/new-key-budgets.ts'
import { expireHours, leastExpiryStatements, prune } from './counters/old-rows.ts'
import { continueRound, LEAST_ROUND_STATEMENTS, MAX_VERIFIED } from './counters/verify/verify-page.ts'
import { consume, type Delivery } from './counters/write/queue.ts'
import { countStatements } from './database/database.ts'
import { withRetries } from './database/retry-and-breaker.ts'
import { type Isolate, isolateOf, openBackgroundDatabase, rollUpNow } from './isolate.ts'
import { log } from './log.ts'
import { FREE_SUBREQUESTS } from './plans.ts'
import { deleteOldSalts } from './visits/salts.ts'

/** A counter has several rows in each of four tables. So a page of them takes about as long as one of slots. */
const SLOTS_PER_VERIFIED = 4
/** After pruning and expiry, which may take 100 s: the next run begins after 120. */
const VERIFICATION_SECONDS = 15

const EXPRESSIONS = `"${ROLL_UP_CRON}" rolls up, "${PRUNING_CRON}" prunes`

/** Runs a task. If it fails, that is logged, the result is `null`, and the next tasks run nevertheless: other tables must not grow. */
type Attempt = <Result>(task: string, work: () => Promise<Result>) => Promise<Result | null>

/** Runs the tasks of a cron expression. @throws {Error} for an unknown one, and of the first failed task: the platform records a failure */
export async function runScheduled(bindings: Bindings, cron: string, at: Date): Promise<void> {
  const isolate = isolateOf(bindings)
  const errors: unknown[] = []
  const attempt: Attempt = (task, work) =>
    work().catch((error: unknown) => {
      errors.push(error)
      log('error', 'scheduled_failed', { cron, task, error: String(error) })
      return null
    })
  if (cron === ROLL_UP_CRON) await attempt('roll-up', () => runRollUp(isolate, at))
  else if (cron === PRUNING_CRON) await deleteAndVerify(isolate, at, attempt)
  else
    await attempt('unknown', () => Promise.reject(new Error(`no task for cron expression "${cron}": ${EXPRESSIONS}`)))
  if (errors.length > 0) throw errors[0]
}

async function runRollUp(isolate: Isolate, at: Date): Promise<void> {
  const summary = await rollUpNow(isolate, at)
  log(summary.stuck > 0 ? 'error' : 'info', 'rollup', { scheduled: at.toISOString(), ...summary })
}

/** Deletes what is old, and continues the day's check of all sums. The tasks share the statements of the run. */
async function deleteAndVerify(isolate: Isolate, at: Date, attempt: Attempt): Promise<void> {
  const { plan, types, pruning, history, ranges, mayExpire, longestWindow } = isolate.config
  const recordTypes = [...types.values()].map(({ recordType }) => recordType)
  const db = countStatements(openBackgroundDatabase(isolate))
  const retried = withRetries(db)
  const scheduled = at.toISOString()
  const salts = await attempt('salts', async () => (mayExpire ? deleteOldSalts(db, longestWindow) : 0))
  await attempt('slots', async () => {
    // At least one page.
    const maxStatements = Math.max(pruning.maxStatements - db.sent, 1 + ranges)
    const summary = await prune(db, { ...pruning, maxStatements })
    // Partial runs are normal: all slots of an hour may be due at once. GET /v1/status warns if it takes too long.
    log('info', 'prune', { scheduled, ...summary, salts })
    await recordRun(retried, 'pruning', summary.stoppedBy)
  })
  await attempt('budgets of new keys', () => pruneBudgets(db, recordTypes))
  await attempt('names', () => pruneNames(retried))
  // A wrong setting hides how long hours are kept.
  let expired = !mayExpire
  await attempt('hours', async () => {
    if (!mayExpire) return
    // At least one page of counters and one of types, and how it ended.
    const maxStatements = Math.max(history.maxStatements - db.sent - 1, leastExpiryStatements(ranges))
    const summary = await expireHours(db, { ...history, maxStatements, recordTypes, at })
    expired = summary.stoppedBy === null
    // `kept` counts hours whose day is missing.
    log(summary.kept > 0 ? 'warn' : 'info', 'expire', { scheduled, ...summary })
    await recordRun(retried, 'expiry', summary.stoppedBy, summary.before)
  })
  await attempt('sums', async () => {
    // At least a page, unless the run would exceed the free plan by that.
    const least =
      plan === 'free' ? Math.min(LEAST_ROUND_STATEMENTS, FREE_SUBREQUESTS - db.sent) : LEAST_ROUND_STATEMENTS
    const maxStatements = Math.max(history.maxStatements - db.sent, least)
    if (!expired || maxStatements < LEAST_ROUND_STATEMENTS) return
    const summary = await continueRound(db, {
      at,
      hourDays: history.hourDays,
      limit: Math.max(1, Math.min(MAX_VERIFIED, Math.floor(pruning.pageSlots / SLOTS_PER_VERIFIED))),
      maxStatements,
      maxSeconds: VERIFICATION_SECONDS,
    })
    if (summary !== null) log(summary.outcome === 'wrong' ? 'error' : 'info', 'verify', { scheduled, ...summary })
  })
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
