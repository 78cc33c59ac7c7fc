import type { Bindings } from './config/bindings.ts'
import type { Config } from './config/config.ts'
import { recordRun } from './counters/background-runs.ts'
import { expireHours, leastExpiryStatements } from './counters/history/expire-hours.ts'
import { namePruningStatements, pruneNames } from './counters/keys/names.ts'
import { budgetPruningStatements, pruneBudgets } from './counters/keys/new-key-budgets.ts'
import { prune } from './counters/rollup/prune.ts'
import { rollUp } from './counters/rollup/roll-up.ts'
import { continueRound, LEAST_ROUND_STATEMENTS } from './counters/verify/daily-round.ts'
import { MAX_VERIFIED } from './counters/verify/verify-page.ts'
import { keptHours } from './counters/write/kept-hours.ts'
import { consume, type Delivery } from './counters/write/queue.ts'
import { type CountedDatabase, countStatements, type Database } from './database/database.ts'
import { withRetries } from './database/retry-and-breaker.ts'
import { isolateOf, openBackgroundDatabase } from './isolate.ts'
import { log } from './log.ts'
import { FREE_SUBREQUESTS } from './plans.ts'
import { deleteOldSalts } from './visits/visitors.ts'

/** Statements that delete salts. The next run repeats what fails. */
const SALT_STATEMENTS = 1
/** Statements that record how the expiry of hours ended. */
const RECORD_STATEMENTS = 1
/** A counter has several rows in each of four tables. So a page of them takes about as long as one of slots. */
const SLOTS_PER_VERIFIED = 4
/** After pruning and expiry, which may take 100 s: the next run begins after 120. */
const VERIFICATION_SECONDS = 15

/**
 * Runs the task of a cron expression and logs it.
 * @param at the scheduled time of the run
 * @throws {Error} for an unknown expression, and whatever the task throws: the platform then records a failure
 */
export async function runScheduled(bindings: Bindings, cron: string, at: Date): Promise<void> {
  try {
    await runTask(bindings, cron, at)
  } catch (error) {
    log('error', 'scheduled_failed', { cron, error: String(error) })
    throw error
  }
}

async function runTask(bindings: Bindings, cron: string, at: Date): Promise<void> {
  const isolate = isolateOf(bindings)
  const { config, reads } = isolate
  const db = countStatements(openBackgroundDatabase(isolate))
  switch (cron) {
    case config.crons.rollUp: {
      const summary = await rollUp({ db, cache: reads.rolled }, { ...config.rollUp, at })
      log(summary.stuck > 0 ? 'error' : 'info', 'rollup', { scheduled: at.toISOString(), ...summary })
      return
    }
    case config.crons.pruning: {
      // Independent of each other: if one table cannot be pruned, the others must not grow.
      const forgetting = config.mayExpire ? deleteOldSalts(db, config.longestWindow) : Promise.resolve(0)
      const pruning = runPrune(config, db, at, await forgetting.catch(() => null))
      await pruning.catch(() => {})
      const expiring = runExpiry(config, db, at)
      await expiring.catch(() => {})
      const forgettingBudgets = pruneBudgets(db, recordTypesOf(config))
      await Promise.all([forgetting, pruning, expiring, forgettingBudgets, pruneNames(withRetries(db))])
      if (await expiring) await runVerification(config, db, at)
      return
    }
    default:
      throw new Error(
        `no task for cron expression "${cron}": this counter rolls up at "${config.crons.rollUp}" and prunes at "${config.crons.pruning}"`,
      )
  }
}

/** Prunes with the statements that salts leave, at least one page. */
async function runPrune(config: Config, db: Database, at: Date, salts: number | null): Promise<void> {
  const maxStatements = Math.max(config.pruning.maxStatements - SALT_STATEMENTS, 1 + config.ranges)
  const summary = await prune(db, { ...config.pruning, maxStatements })
  // Partial runs are normal: all slots of an hour may be due at once. GET /v1/status warns if it takes too long.
  log('info', 'prune', { scheduled: at.toISOString(), ...summary, salts })
  await recordRun(withRetries(db), 'pruning', summary.stoppedBy)
}

/**
 * Deletes at least one page of counters and one of types, even if pruning used up the budget. Returns whether none is left. Deletes none while a
 * wrong setting hides how long hours are kept.
 */
async function runExpiry(config: Config, db: CountedDatabase, at: Date): Promise<boolean> {
  if (!config.mayExpire) return true
  const recordTypes = recordTypesOf(config)
  const otherStatements = budgetPruningStatements(recordTypes, config.ranges) + namePruningStatements(config.ranges)
  const left = config.history.maxStatements - db.sent - RECORD_STATEMENTS - otherStatements
  const maxStatements = Math.max(left, leastExpiryStatements(config.ranges))
  const summary = await expireHours(db, { ...config.history, maxStatements, recordTypes, at })
  // `kept` counts hours whose day is missing.
  log(summary.kept > 0 ? 'warn' : 'info', 'expire', { scheduled: at.toISOString(), ...summary })
  await recordRun(withRetries(db), 'expiry', summary.stoppedBy)
  return summary.stoppedBy === null
}

/** Continues the day's check of all sums: at least a page, unless the run would exceed the free plan by that. */
async function runVerification({ plan, pruning, history }: Config, db: CountedDatabase, at: Date): Promise<void> {
  const least = plan === 'free' ? Math.min(LEAST_ROUND_STATEMENTS, FREE_SUBREQUESTS - db.sent) : LEAST_ROUND_STATEMENTS
  const maxStatements = Math.max(history.maxStatements - db.sent, least)
  if (maxStatements < LEAST_ROUND_STATEMENTS) return
  const summary = await continueRound(db, {
    at,
    hourDays: history.hourDays,
    limit: Math.max(1, Math.min(MAX_VERIFIED, Math.floor(pruning.pageSlots / SLOTS_PER_VERIFIED))),
    maxStatements,
    maxSeconds: VERIFICATION_SECONDS,
  })
  if (summary === null) return
  log(summary.outcome === 'wrong' ? 'error' : 'info', 'verify', { scheduled: at.toISOString(), ...summary })
}

function recordTypesOf({ types }: Config): number[] {
  return [...types.values()].map(({ recordType }) => recordType)
}

/** Counts the batches that the queue delivers. Logs a summary, and each batch that can never be counted. */
export async function runQueued(bindings: Bindings, deliveries: readonly Delivery[]): Promise<void> {
  const isolate = isolateOf(bindings)
  const { config } = isolate
  const context = {
    db: openBackgroundDatabase(isolate),
    keptHours: keptHours(config.pruning.idempotencyHours),
    deadLetters: config.deadBatches,
  }
  const { dead, ...counts } = await consume(context, deliveries, new Date())
  for (const letter of dead) log('error', 'batch_dead', { ...letter })
  log(counts.retried > 0 ? 'warn' : 'info', 'queue', { ...counts, dead: dead.length })
}
