import { countStatements, type Database, type Executor } from '../../database/database.ts'
import { withRetries } from '../../database/retry-and-breaker.ts'
import { toDate } from '../../database/values.ts'
import { type RunBudgets, VERIFICATION } from '../background-runs.ts'
import { DAY_MS, dayText, timeText } from '../calendar.ts'
import { FIRST_POSITION, firstDayWithHours, isPosition, type KeyedMismatch, verifyPage } from './verify-page.ts'

/** The most statements of a page: its type, 2 for its end, 2 comparisons, keys. */
const PAGE_STATEMENTS = 6
/** The fewest statements with which a run gets on: reading and beginning the round, the oldest hour, a page, writing where it is. */
export const LEAST_ROUND_STATEMENTS = 3 + PAGE_STATEMENTS + 1
/** A round that has not ended after this begins again: its first pages say nothing about today. */
const MAX_ROUND_MS = 14 * DAY_MS
/** Mismatches that are stored. `npm run verify` lists all. */
const MAX_FOUND = 10

/**
 * Continues the day's check of all sums (in UTC), page by page, within its budgets. The round ends with its last page, or with the
 * first mismatch: it then does not agree, and `npm run verify` lists all of them. Runs may overlap: of those that continue at one
 * position, one is written down.
 * @param options `at`: the scheduled time of the run; `limit`: the counters of a page
 * @returns what this run checked; `null`: today's round is over
 */
export async function continueRound(
  database: Database,
  options: RunBudgets & { at: Date; hourDays: number; limit: number },
) {
  const { at, hourDays, limit, maxStatements, maxSeconds = Number.POSITIVE_INFINITY } = options
  const counted = countStatements(database)
  const db = withRetries(counted)
  const began = Date.now()
  const round = await openRound(db, at)
  if (round === null) return null
  const firstDay = await firstDayWithHours(db, at, hourDays)
  let from: string | null = round.position
  let checked = 0
  let wrong: KeyedMismatch[] = []
  while (from !== null && wrong.length === 0) {
    if (counted.sent + PAGE_STATEMENTS + 1 > maxStatements || Date.now() - began >= maxSeconds * 1_000) break
    const page = await verifyPage(db, from, limit, firstDay)
    checked += page.checked
    wrong = page.wrong
    from = page.next
  }
  const outcome = wrong.length > 0 ? 'wrong' : from === null ? 'agrees' : 'partial'
  // A mismatch ends the round, whatever other runs found. Else nothing is written if another run has moved it meanwhile.
  const unmoved = `AND round_begun_at = '${round.begunAt}' AND position = '${round.position}'`
  const [change, condition] = {
    wrong: ['position = NULL, agreed_at = NULL, found = ?', ''],
    agrees: [`position = NULL, agreed_at = '${timeText(at)}', found = NULL`, unmoved],
    partial: [`position = '${from}'`, unmoved],
  }[outcome]
  const found = JSON.stringify(wrong.slice(0, MAX_FOUND), (_, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  )
  await db.execute(
    `UPDATE background_runs SET finished_at = UTC_TIMESTAMP(3), ${change} WHERE task = ${VERIFICATION} ${condition}`,
    outcome === 'wrong' ? [found] : [],
  )
  return { outcome, checked, wrong: wrong.length, statements: counted.sent, milliseconds: Date.now() - began } as const
}

/** The position of the round under way, and when it began. Begins one if there is none, or it is too old. `null`: today's is over. */
async function openRound(db: Executor, at: Date) {
  const { rows } = await db.execute(`SELECT position, round_begun_at FROM background_runs WHERE task = ${VERIFICATION}`)
  const { position = null, round_begun_at = null } = rows[0] ?? {}
  const begun = toDate(round_begun_at)
  if (begun !== null && position === null && dayText(begun) === dayText(at)) return null
  const isRecent = begun !== null && Math.abs(at.getTime() - begun.getTime()) <= MAX_ROUND_MS
  // Another version may have written another position.
  if (isRecent && isPosition(String(position))) return { begunAt: timeText(begun), position: String(position) }
  const round = { begunAt: timeText(at), position: FIRST_POSITION }
  await db.execute(
    `INSERT INTO background_runs (task, finished_at, position, round_begun_at)
     VALUES (${VERIFICATION}, UTC_TIMESTAMP(3), '${round.position}', '${round.begunAt}')
     ON DUPLICATE KEY UPDATE position = VALUES(position), round_begun_at = VALUES(round_begun_at)`,
  )
  return round
}
