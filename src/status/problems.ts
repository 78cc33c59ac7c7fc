import type { PruningSettings, RollUpSettings } from '../config.ts'
import { MAX_COUNTED } from '../counters/backlog.ts'
import { mostSlotsPerRun } from '../counters/rollup.ts'
import type { Survey } from './survey.ts'

/** Seconds without a roll-up, or without its catching up, from which on something is wrong: five runs. */
const MAX_BEHIND_SECONDS = 300
/** Hours beyond the idempotency window by which pruning, which runs every hour, may be late. */
const MAX_PRUNING_LAG_HOURS = 3

/** What can be wrong. */
export const STATUS_PROBLEMS = [
  'database_unavailable',
  'database_not_ready',
  'breaker_open',
  'rollup_missing',
  'rollup_behind',
  'counters_stuck',
  'pending_above_bound',
  'pruning_behind',
] as const

/** Something that a person should look at. */
export interface StatusProblem {
  code: (typeof STATUS_PROBLEMS)[number]
  /** What it means and what to do about it. */
  detail: string
}

/** What the problems of a status follow from. */
export interface Circumstances {
  survey: Survey
  /** What the database's failing to answer means; `null`: it answers. */
  databaseProblem: StatusProblem | null
  breakerOpen: boolean
  rollUp: RollUpSettings
  pruning: PruningSettings
  now: Date
}

/** Says what is wrong, if anything is. Counts are exact in all these cases; some are not taken. */
export function problemsOf(circumstances: Circumstances): StatusProblem[] {
  const { databaseProblem, breakerOpen } = circumstances
  const problems = databaseProblem === null ? [] : [databaseProblem]
  if (breakerOpen) {
    problems.push({
      code: 'breaker_open',
      detail:
        'The database has kept failing in this isolate, so most statements are refused without being sent. It is tried again every few seconds.',
    })
  }
  return [...problems, ...rollUpProblems(circumstances), ...slotProblems(circumstances)]
}

function rollUpProblems({ survey: { rollUp, slots }, rollUp: settings, now }: Circumstances): StatusProblem[] {
  if (rollUp === null) return []
  const since = (time: Date | null | undefined) =>
    time ? Math.round((now.getTime() - time.getTime()) / 1_000) : Number.POSITIVE_INFINITY
  const lastRun = since(rollUp?.lastRunAt)
  if (lastRun > MAX_BEHIND_SECONDS) {
    const when = Number.isFinite(lastRun) ? `for ${lastRun} s` : 'yet'
    return [
      {
        code: 'rollup_missing',
        detail: `No roll-up has finished ${when}. It runs every minute: look for rollup and scheduled_failed in the log, and for crons in wrangler.toml.`,
      },
    ]
  }
  const behind = since(rollUp?.caughtUpAt)
  if (behind <= MAX_BEHIND_SECONDS) return []
  const when = Number.isFinite(behind) ? `for ${behind} s` : 'yet'
  // Runs reach the end, there is little left, and yet it is there after the next one.
  if (rollUp?.cursor === null && slots !== null && slots.pending < Math.min(MAX_COUNTED, mostSlotsPerRun(settings))) {
    return [
      {
        code: 'counters_stuck',
        detail: `Roll-ups reach the end but have not left nothing behind ${when}: there are counters whose totals are at the limit of 64 bits (stuck in the log), or runs that fail.`,
      },
    ]
  }
  return [
    {
      code: 'rollup_behind',
      detail: `The roll-up has not caught up ${when}: raise ROLLUP.max_statements, or see in the log what runs fail of.`,
    },
  ]
}

function slotProblems({ survey: { slots }, rollUp, pruning }: Circumstances): StatusProblem[] {
  if (slots === null) return []
  const problems: StatusProblem[] = []
  const most = mostSlotsPerRun(rollUp)
  if (slots.pending >= MAX_COUNTED && most < MAX_COUNTED) {
    problems.push({
      code: 'pending_above_bound',
      detail: `At least ${MAX_COUNTED} slots are pending, and one roll-up moves at most ${most}: raise ROLLUP.max_statements.`,
    })
  }
  const late = (slots.oldestHours ?? 0) - pruning.idempotencyHours
  if (late > MAX_PRUNING_LAG_HOURS) {
    problems.push({
      code: 'pruning_behind',
      detail: `There are slots that should have been pruned ${late} hours ago: look for prune in the log, and raise PRUNING.max_statements if it says partial.`,
    })
  }
  return problems
}
