import type { Bindings } from './config/bindings.ts'
import type { Config } from './config/config.ts'
import { budgetPruningStatements, pruneBudgets } from './counters/admission/new-key-budget.ts'
import { expireHours, leastExpiryStatements } from './counters/history/expire-hours.ts'
import { prune } from './counters/rollup/prune.ts'
import { rollUp } from './counters/rollup/roll-up.ts'
import type { Database } from './database/database.ts'
import { isolateOf, openBackgroundDatabase } from './isolate.ts'
import { log } from './log.ts'

/** The cron expressions of wrangler.toml. */
export const ROLL_UP_CRON = '* * * * *'
export const PRUNING_CRON = '17 * * * *'

/**
 * Runs the task of a cron expression and logs one line about it.
 *
 * @param at the scheduled time of the run
 * @throws {Error} for an unknown expression, and whatever the task throws, so that the platform records a failure
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
  const { config, reads } = isolateOf(bindings)
  const db = openBackgroundDatabase(config)
  switch (cron) {
    case ROLL_UP_CRON: {
      const summary = await rollUp({ db, totals: reads.totals }, { ...config.rollUp, at })
      log(summary.stuck > 0 ? 'error' : 'info', 'rollup', { scheduled: at.toISOString(), ...summary })
      return
    }
    case PRUNING_CRON: {
      const pruning = runPrune(config, db, at)
      // Independent of pruning: if one table cannot be pruned, the other one must not grow.
      await runExpiry(config, db, at, await pruning.catch(() => config.pruning.maxStatements))
      await pruning
      await pruneBudgets(db, recordTypesOf(config))
      return
    }
    default:
      throw new Error(`no task for cron expression "${cron}": wrangler.toml and src/scheduled.ts must agree`)
  }
}

/** Prunes. Returns the number of statements that it sent. */
async function runPrune(config: Config, db: Database, at: Date): Promise<number> {
  const summary = await prune(db, config.pruning)
  // A partial run means that more slots become empty than it may delete: raise PRUNING.max_statements.
  log(summary.outcome === 'partial' ? 'warn' : 'info', 'prune', { scheduled: at.toISOString(), ...summary })
  return summary.statements
}

/**
 * Deletes old hours with the statements that pruning did not use, at least a page of types and one of counters:
 * PRUNING.max_statements may be raised without HISTORY.max_statements.
 */
async function runExpiry(config: Config, db: Database, at: Date, statementsSent: number): Promise<void> {
  const recordTypes = recordTypesOf(config)
  const left = config.history.maxStatements - statementsSent - budgetPruningStatements(recordTypes, config.ranges)
  const maxStatements = Math.max(left, leastExpiryStatements(config.ranges))
  const summary = await expireHours(db, { ...config.history, maxStatements, recordTypes, at })
  // A partial run means that more hours grow old than it may delete. `kept` counts hours whose day is missing.
  log(summary.outcome === 'partial' || summary.kept > 0 ? 'warn' : 'info', 'fold', {
    scheduled: at.toISOString(),
    ...summary,
  })
}

function recordTypesOf({ types }: Config): number[] {
  return [...types.values()].map(({ recordType }) => recordType)
}
