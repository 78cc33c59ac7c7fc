import type { Config } from './config.ts'
import { consume, type Delivery } from './counters/consume.ts'
import { fold } from './counters/fold.ts'
import { prune } from './counters/prune.ts'
import { rollUp } from './counters/rollup.ts'
import { type Database, openDatabase } from './database/database.ts'
import { log } from './log.ts'

/** Milliseconds one statement of a run may take: nobody waits for it, and its pages are larger than a request's. */
const STATEMENT_DEADLINE_MS = 20_000

/** What an hourly run may always use for folding: PRUNING.max_statements may be raised without HISTORY.max_statements. */
const MIN_FOLD_STATEMENTS = 4

/** The cron expressions of wrangler.toml, and what each one is for. */
export const ROLL_UP_CRON = '* * * * *'
export const PRUNING_CRON = '17 * * * *'

/**
 * Opens the database for a roll-up or pruning run. Without retries: the runs have their own, and their budgets count what
 * is really sent.
 */
export function openMaintenanceDatabase(config: Config): Database {
  return openDatabase({ url: config.databaseUrl, deadlineMs: STATEMENT_DEADLINE_MS })
}

/**
 * Runs what a cron expression stands for and logs one line about it.
 *
 * @param at the scheduled time of the run
 * @throws {Error} for an expression that is not known, and whatever the run throws, so that the platform records a failure
 */
export async function runScheduled(config: Config, cron: string, at: Date): Promise<void> {
  const db = openMaintenanceDatabase(config)
  switch (cron) {
    case ROLL_UP_CRON: {
      const summary = await rollUp(db, { ...config.rollUp, at })
      log(summary.stuck > 0 ? 'error' : 'info', 'rollup', { scheduled: at.toISOString(), ...summary })
      return
    }
    case PRUNING_CRON: {
      const pruning = runPrune(config, db, at)
      // Folding does not depend on it: a table that cannot be pruned must not keep the other one growing.
      await runFold(config, db, at, await pruning.catch(() => config.pruning.maxStatements))
      await pruning
      return
    }
    default:
      throw new Error(`no task for cron expression "${cron}": wrangler.toml and src/maintenance.ts must agree`)
  }
}

/** Prunes. Returns the number of statements that took. */
async function runPrune(config: Config, db: Database, at: Date): Promise<number> {
  const summary = await prune(db, config.pruning)
  // Left over means that more slots are emptied than this may delete: raise PRUNING.max_statements.
  log(summary.outcome === 'partial' ? 'warn' : 'info', 'prune', { scheduled: at.toISOString(), ...summary })
  return summary.statements
}

/** Folds with what pruning has left of the run's statements, a page of types and one of counters at least. */
async function runFold(config: Config, db: Database, at: Date, statementsSent: number): Promise<void> {
  const maxStatements = Math.max(config.history.maxStatements - statementsSent, MIN_FOLD_STATEMENTS)
  const recordTypes = [...config.types.values()].map(({ recordType }) => recordType)
  const summary = await fold(db, { ...config.history, maxStatements, recordTypes, at })
  // Left over means that more hours grow old than this may fold; kept, that the history has hours without their days.
  log(summary.outcome === 'partial' || summary.kept > 0 ? 'warn' : 'info', 'fold', {
    scheduled: at.toISOString(),
    ...summary,
  })
}

/**
 * Counts what the queue delivers, and logs one line about it, and one more for each batch that can never be counted.
 */
export async function runQueued(config: Config, deliveries: readonly Delivery[]): Promise<void> {
  const db = openMaintenanceDatabase(config)
  const { idempotencyHours } = config.pruning
  const summary = await consume({ db, idempotencyHours, deadLetters: config.deadBatches }, deliveries, new Date())
  const { dead, ...counts } = summary
  for (const letter of dead) log('error', 'batch_dead', { ...letter })
  log(counts.retried > 0 ? 'warn' : 'info', 'queue', { ...counts, dead: dead.length })
}
