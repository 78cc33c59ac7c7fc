import { MAX_COUNTED } from '../counters/rollup/backlog.ts'
import type { PruningSettings } from '../counters/rollup/prune.ts'
import { mostSlotsPerRun, type RollUpSettings } from '../counters/rollup/roll-up.ts'
import type { Survey } from './survey.ts'

/** A roll-up is a problem if it has not run, or not caught up, for this many seconds: five runs. */
const MAX_BEHIND_SECONDS = 300
/** Pruning runs every hour. It may be this many hours late, beyond the idempotency window. */
const MAX_PRUNING_LAG_HOURS = 3

/** The codes of problems in the status. */
export const FINDING_CODES = [
  'database_unavailable',
  'database_not_ready',
  'breaker_open',
  'rollup_missing',
  'rollup_behind',
  'counters_stuck',
  'pending_above_bound',
  'pruning_behind',
  'too_few_ranges',
] as const

/** A problem that needs attention. */
export interface Finding {
  code: (typeof FINDING_CODES)[number]
  /** What it means and what to do about it. */
  detail: string
}

/** The data that problems are derived from. */
export interface Circumstances {
  survey: Survey
  /** The problem with the database; `null`: there is none. */
  databaseProblem: Finding | null
  breakerOpen: boolean
  rollUp: RollUpSettings
  /** The number of ranges. */
  ranges: number
  pruning: PruningSettings
  now: Date
}

/** Finds problems. Counts stay exact with all of them, but some hits may be refused. */
export function findingsOf(circumstances: Circumstances): Finding[] {
  const { databaseProblem, breakerOpen } = circumstances
  const problems = databaseProblem === null ? [] : [databaseProblem]
  if (breakerOpen) {
    problems.push({
      code: 'breaker_open',
      detail:
        'The database keeps failing in this isolate, so most statements are refused without being sent. A trial is sent every few seconds.',
    })
  }
  return [
    ...problems,
    ...rangeProblems(circumstances),
    ...rollUpProblems(circumstances),
    ...slotProblems(circumstances),
  ]
}

function rangeProblems({ survey: { server }, ranges }: Circumstances): Finding[] {
  const shards = server?.shards ?? 1
  if (shards <= ranges) return []
  return [
    {
      code: 'too_few_ranges',
      detail: `The keyspace has ${shards} shards, but SHARDING.ranges is ${ranges}. Raise it to a power of two that is at least the number of shards. Until then, batches and roll-ups may span shards and block each other.`,
    },
  ]
}

function rollUpProblems({ survey: { rollUp, slots }, rollUp: settings, ranges, now }: Circumstances): Finding[] {
  if (rollUp === null) return []
  const since = (time: Date | null | undefined) =>
    time ? Math.round((now.getTime() - time.getTime()) / 1_000) : Number.POSITIVE_INFINITY
  const lastRun = since(rollUp?.lastRunAt)
  if (lastRun > MAX_BEHIND_SECONDS) {
    const when = Number.isFinite(lastRun) ? `for ${lastRun} s` : 'yet'
    return [
      {
        code: 'rollup_missing',
        detail: `No roll-up has finished ${when}. It should run every minute. Look for rollup and scheduled_failed in the log, and for crons in wrangler.toml.`,
      },
    ]
  }
  const behind = since(rollUp?.caughtUpAt)
  if (behind <= MAX_BEHIND_SECONDS) return []
  const when = Number.isFinite(behind) ? `for ${behind} s` : 'yet'
  // Runs reach the end and few slots are pending, but some are still pending after the next run.
  if (
    rollUp?.cursor === null &&
    slots !== null &&
    slots.pending < Math.min(MAX_COUNTED, mostSlotsPerRun(settings, ranges))
  ) {
    return [
      {
        code: 'counters_stuck',
        detail: `Roll-ups reach the end, but have not moved everything ${when}. Either the totals of some counters are at the limit of 64 bits (stuck in the log), or runs fail.`,
      },
    ]
  }
  return [
    {
      code: 'rollup_behind',
      detail: `The roll-up has not caught up ${when}. Raise ROLLUP.max_statements, or find out from the log why runs fail.`,
    },
  ]
}

function slotProblems({ survey: { slots }, rollUp, ranges, pruning }: Circumstances): Finding[] {
  if (slots === null) return []
  const problems: Finding[] = []
  const most = mostSlotsPerRun(rollUp, ranges)
  if (slots.pending >= MAX_COUNTED && most < MAX_COUNTED) {
    problems.push({
      code: 'pending_above_bound',
      detail: `At least ${MAX_COUNTED} slots are pending, and a roll-up moves at most ${most}. Raise ROLLUP.max_statements.`,
    })
  }
  const late = (slots.oldestHours ?? 0) - pruning.idempotencyHours
  if (late > MAX_PRUNING_LAG_HOURS) {
    problems.push({
      code: 'pruning_behind',
      detail: `Some slots should have been pruned ${late} hours ago. Look for prune in the log. If it says partial, raise PRUNING.max_statements.`,
    })
  }
  return problems
}
