import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { boundsOf } from '../ranges.ts'

/** The most patterns of a type, and characters of a pattern. */
export const MAX_PATTERNS = 100
export const MAX_PATTERN_LENGTH = 512

/** Which keys public requests may bring into being. Counters that exist, and requests with a token, are not concerned. */
export interface NewKeyRule {
  /** `any`, those that match a pattern, or none: only `known` keys count. */
  newKeys: 'any' | 'known' | readonly string[]
  /** How many in a minute; `null`: any number. */
  newKeysPerMinute: number | null
}

/** Whether a rule lets everything in, so that nothing has to be checked. */
export function admitsEverything({ newKeys, newKeysPerMinute }: NewKeyRule): boolean {
  return newKeys === 'any' && newKeysPerMinute === null
}

/** Whether a key may come into being, as long as there is a budget for it. */
export function mayBeNew({ newKeys }: NewKeyRule, key: string): boolean {
  if (typeof newKeys === 'string') return newKeys === 'any'
  return newKeys.some((pattern) => matchesPattern(pattern, key))
}

/**
 * Whether a key matches a pattern. `*` matches any text, also empty text and slashes. Everything else matches itself.
 * Not a regular expression: no pattern can take long.
 */
export function matchesPattern(pattern: string, key: string): boolean {
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return key === pattern
  const end = key.length - tail.length
  if (end < head.length || !key.startsWith(head) || !key.endsWith(tail)) return false
  // The first place where a part fits leaves the most for the parts behind it.
  let from = head.length
  for (const part of rest) {
    const at = key.indexOf(part, from)
    if (at === -1 || at + part.length > end) return false
    from = at + part.length
  }
  return true
}

/** Times that a budget is asked before what is left of it goes to other isolates. */
const MAX_ROUNDS = 3
/** Minutes after which a row of the table is deleted. */
const KEPT_MINUTES = 60
const MINUTE_MS = 60_000
/** Rows that one run deletes; far more than come in between two runs. */
const MAX_PRUNED = 10_000

/** The minute, by the database's clock: one clock for all isolates. */
const MINUTE = 'FLOOR(UNIX_TIMESTAMP() / 60)'

/** The number of the range in which a type has its budget: one for all of its counters, so that the budget is one number. */
function budgetRangeOf(recordType: number, ranges: number): number {
  return recordType % ranges
}

/**
 * The budgets of new keys, one for each type and minute. They are in the database, so all isolates share them. An isolate
 * remembers that a budget is used up until the minute is over. Plain data, shared by an isolate's requests.
 */
export class NewKeyBudgets {
  readonly #dbs: readonly Executor[]
  readonly #usedUpUntil = new Map<number, number>()

  /** @param dbs one for each range; may repeat statements */
  constructor(dbs: readonly Executor[]) {
    this.#dbs = dbs
  }

  /**
   * Takes from the budget of a type. An answer that is lost wastes what was taken; never is more taken than there is.
   *
   * @returns how many of the wanted keys may come into being
   */
  async take(recordType: number, wanted: number, perMinute: number): Promise<number> {
    let asked = Math.min(wanted, perMinute)
    if (asked === 0 || this.#isUsedUp(recordType)) return 0
    const range = budgetRangeOf(recordType, this.#dbs.length)
    const db = this.#dbs[range]!
    const { first } = boundsOf(range, this.#dbs.length)
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      // The count is in the condition, so that the number of rows says whether it was taken, whatever the server counts as changed.
      const added = await db.execute(
        `UPDATE new_key_budgets SET taken = taken + ${asked}
         WHERE range_start = ${first} AND minute = ${MINUTE} AND record_type = ${recordType} AND taken <= ${perMinute - asked}`,
      )
      if (added.rowsAffected > 0) return asked
      const begun = await db.execute(
        `INSERT IGNORE INTO new_key_budgets (range_start, minute, record_type, taken)
         VALUES (${first}, ${MINUTE}, ${recordType}, ${asked})`,
      )
      if (begun.rowsAffected > 0) return asked
      const { rows } = await db.execute(
        `SELECT taken, MOD(UNIX_TIMESTAMP(), 60) AS elapsed FROM new_key_budgets
         WHERE range_start = ${first} AND minute = ${MINUTE} AND record_type = ${recordType}`,
      )
      const [row] = rows
      // Another minute has begun.
      if (row === undefined) continue
      const left = perMinute - Number(toBigInt(row.taken))
      if (left <= 0) {
        this.#usedUpUntil.set(recordType, Date.now() + MINUTE_MS - Number(toBigInt(row.elapsed)) * 1_000)
        return 0
      }
      asked = Math.min(asked, left)
    }
    return 0
  }

  #isUsedUp(recordType: number): boolean {
    const wait = (this.#usedUpUntil.get(recordType) ?? 0) - Date.now()
    // A longer wait means that the clock was set back.
    return wait > 0 && wait <= MINUTE_MS
  }
}

/** The number of statements of `pruneBudgets`. */
export function budgetPruningStatements(recordTypes: readonly number[], ranges: number): number {
  return rangesOf(recordTypes, ranges).size
}

/** Deletes the budgets of past minutes, with one statement for each range that has any. */
export async function pruneBudgets(db: Executor & { ranges: number }, recordTypes: readonly number[]): Promise<void> {
  for (const range of rangesOf(recordTypes, db.ranges)) {
    await db.execute(
      `DELETE FROM new_key_budgets
       WHERE range_start = ${boundsOf(range, db.ranges).first} AND minute < ${MINUTE} - ${KEPT_MINUTES} ORDER BY minute LIMIT ${MAX_PRUNED}`,
    )
  }
}

function rangesOf(recordTypes: readonly number[], ranges: number): Set<number> {
  return new Set(recordTypes.map((recordType) => budgetRangeOf(recordType, ranges)))
}
