import { countStatements, type Database, type Executor } from '../../database/database.ts'
import { withRetries } from '../../database/retry-and-breaker.ts'
import { toDate } from '../../database/values.ts'
import { type RunBudgets, VERIFICATION } from '../background-runs.ts'
import { DAY_MS, dayText, timeText } from '../calendar.ts'
import { FIRST_POSITION, isPosition, type Mismatch, verifyPage } from './verify-page.ts'

/** The statements of a page at most: one of hours with a mismatch, which is read twice. */
const PAGE_STATEMENTS = 8
/** Reading where the round is, beginning one, and writing where it stopped. */
const STATE_STATEMENTS = 3
/** The fewest statements with which a run gets on. */
export const LEAST_ROUND_STATEMENTS = STATE_STATEMENTS + PAGE_STATEMENTS
/** A round that has not ended after this begins again: its first pages say nothing about today. */
const MAX_ROUND_MS = 14 * DAY_MS
/** Mismatches that are stored. `npm run verify` lists all. */
const MAX_FOUND = 10

export interface RoundOptions extends RunBudgets {
  /** The scheduled time of the run. */
  at: Date
  hourDays: number
  /** Counters of a page. */
  limit: number
}

/**
 * Continues the day's check of all sums (in UTC), page by page, within its budgets. The round ends with its last page, or with the
 * first mismatch: it then does not agree, and `npm run verify` lists all of them. Runs may overlap: of those that continue at one
 * position, one is written down.
 * @returns what this run checked; `null`: today's round is over
 */
export async function continueRound(
  database: Database,
  { at, hourDays, limit, maxStatements, maxSeconds = Number.POSITIVE_INFINITY }: RoundOptions,
) {
  const counted = countStatements(database)
  const db = withRetries(counted)
  const began = Date.now()
  const round = (await readRound(db, at)) ?? (await beginRound(db, at))
  if (round === 'over') return null
  let from: string | null = round.position
  let checked = 0
  let wrong: readonly Mismatch[] = []
  while (from !== null && wrong.length === 0) {
    if (counted.sent + PAGE_STATEMENTS + 1 > maxStatements || Date.now() - began >= maxSeconds * 1_000) break
    const page = await verifyPage(db, { from, limit, at, hourDays })
    checked += page.checked
    wrong = page.wrong
    from = page.next
  }
  if (wrong.length > 0) await endInDisagreement(db, wrong)
  else await writeDown(db, round, from, at)
  const outcome = wrong.length > 0 ? 'wrong' : from === null ? 'agrees' : 'partial'
  return { outcome, checked, wrong: wrong.length, statements: counted.sent, milliseconds: Date.now() - began } as const
}

/** When the last round in which every sum agreed ended (`null`: none did, or a mismatch was found since), and what was found since. */
export async function readVerification(db: Executor): Promise<{ agreedAt: Date | null; found: Mismatch[] }> {
  const { rows } = await db.execute(`SELECT agreed_at, found FROM background_runs WHERE task = ${VERIFICATION}`)
  const { agreed_at = null, found } = rows[0] ?? {}
  const stored = JSON.parse(String(found ?? '[]')) as StoredMismatch[]
  return {
    agreedAt: toDate(agreed_at),
    found: stored.map(({ recordId, is, shouldBe, ...mismatch }) => {
      return {
        ...mismatch,
        recordId: recordId === null ? null : BigInt(recordId),
        is: BigInt(is),
        shouldBe: BigInt(shouldBe),
      }
    }),
  }
}

/** JSON has no bigint. */
type StoredMismatch = Omit<Mismatch, 'recordId' | 'is' | 'shouldBe'> & {
  recordId: string | null
  is: string
  shouldBe: string
}

/** A round under way, as it is stored. */
interface Round {
  /** The scheduled time of its first run, as SQL writes it. */
  begunAt: string
  position: string
}

/** The round to continue; `null`: a new one is due. */
async function readRound(db: Executor, at: Date): Promise<Round | 'over' | null> {
  const { rows } = await db.execute(`SELECT position, round_begun_at FROM background_runs WHERE task = ${VERIFICATION}`)
  const begun = toDate(rows[0]?.round_begun_at ?? null)
  if (begun === null) return null
  const position = rows[0]?.position ?? null
  if (position === null) return dayText(begun) === dayText(at) ? 'over' : null
  const isOld = Math.abs(at.getTime() - begun.getTime()) > MAX_ROUND_MS
  return isOld || !isPosition(String(position)) ? null : { begunAt: timeText(begun), position: String(position) }
}

async function beginRound(db: Executor, at: Date): Promise<Round> {
  const [position, begunAt] = [FIRST_POSITION, timeText(at)]
  await db.execute(
    `INSERT INTO background_runs (task, finished_at, position, round_begun_at)
     VALUES (${VERIFICATION}, UTC_TIMESTAMP(3), '${position}', '${begunAt}')
     ON DUPLICATE KEY UPDATE position = VALUES(position), round_begun_at = VALUES(round_begun_at)`,
  )
  return { begunAt, position }
}

/** Nothing is written if another run has moved the round meanwhile, or found a mismatch. */
async function writeDown(db: Executor, { begunAt, position }: Round, next: string | null, at: Date): Promise<void> {
  const moved = next === null ? `position = NULL, found = NULL, agreed_at = '${timeText(at)}'` : `position = '${next}'`
  await db.execute(
    `UPDATE background_runs SET finished_at = UTC_TIMESTAMP(3), ${moved}
     WHERE task = ${VERIFICATION} AND round_begun_at = '${begunAt}' AND position = '${position}'`,
  )
}

/** Whatever other runs found. */
async function endInDisagreement(db: Executor, wrong: readonly Mismatch[]): Promise<void> {
  const found = wrong.slice(0, MAX_FOUND)
  await db.execute(
    `UPDATE background_runs SET finished_at = UTC_TIMESTAMP(3), position = NULL, agreed_at = NULL, found = ?
     WHERE task = ${VERIFICATION}`,
    [JSON.stringify(found, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))],
  )
}
