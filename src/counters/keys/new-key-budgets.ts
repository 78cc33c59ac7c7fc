import { bucketOf, idsSql } from '../../database/buckets.ts'
import type { Executor } from '../../database/database.ts'
import { MINUTE_MS } from '../calendar.ts'
import { boundsOf } from '../ranges.ts'
import { isAhead } from '../shared-work-state.ts'

export const MAX_PATTERNS = 100
export const MAX_PATTERN_LENGTH = 512

/** Which new keys public requests may create. Existing counters and requests with a token are not concerned. */
export interface NewKeyRule {
  /** `known`: none. */
  newKeys: 'any' | 'known' | readonly string[]
  /** `null`: any number. */
  newKeysPerMinute: number | null
}

/** Whether a key may be created, as far as the budget allows. */
export function mayBeNew({ newKeys }: NewKeyRule, key: string): boolean {
  if (typeof newKeys === 'string') return newKeys === 'any'
  return newKeys.some((pattern) => matchesPattern(pattern, key))
}

/** Whether a key matches a pattern, in which `*` matches any text. Not a regular expression: no pattern can take long. */
export function matchesPattern(pattern: string, key: string): boolean {
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return key === pattern
  const end = key.length - tail.length
  if (end < head.length || !key.startsWith(head) || !key.endsWith(tail)) return false
  // The first match leaves the most for the parts that follow.
  let from = head.length
  for (const part of rest) {
    const at = key.indexOf(part, from)
    if (at === -1 || at + part.length > end) return false
    from = at + part.length
  }
  return true
}

/** After that, what is left of the budget goes to other isolates. */
const MAX_ROUNDS = 3
const KEPT_MINUTES = 60
/** Rows that one run deletes; far more than are written between two runs. */
const MAX_PRUNED = 10_000

const MINUTE = 'FLOOR(UNIX_TIMESTAMP() / 60)'

/** The range with the budget of a type: one for all of its counters, so that it is one number. */
const budgetRangeOf = (recordType: number, ranges: number) => recordType % ranges

/** The budgets of new keys, by type and minute, in the database. An isolate remembers a used-up one. Plain data, shared by its requests. */
export class NewKeyBudgets {
  readonly #dbs: readonly Executor[]
  readonly #usedUpUntil = new Map<number, number>()

  /** @param dbs one for each range; may repeat statements */
  constructor(dbs: readonly Executor[]) {
    this.#dbs = dbs
  }

  /** Returns how many of the wanted keys may be created. A lost answer wastes what was taken. */
  async take(recordType: number, wanted: number, perMinute: number): Promise<number> {
    let asked = Math.min(wanted, perMinute)
    if (asked === 0 || isAhead(this.#usedUpUntil.get(recordType) ?? 0, Date.now(), MINUTE_MS)) return 0
    const range = budgetRangeOf(recordType, this.#dbs.length)
    const db = this.#dbs[range]!
    const { first } = boundsOf(range, this.#dbs.length)
    const minute = `${idsSql('range_start', first)} AND minute = ${MINUTE} AND record_type = ${recordType}`
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      // In the condition, so that affected rows say whether it was taken: servers may report rows found or rows changed.
      const added = await db.execute(
        `UPDATE new_key_budgets SET taken = taken + ${asked} WHERE ${minute} AND taken <= ${perMinute - asked}`,
      )
      if (added.rowsAffected > 0) return asked
      const begun = await db.execute(
        `INSERT IGNORE INTO new_key_budgets (range_start, bucket, minute, record_type, taken)
         VALUES (${first}, ${bucketOf(first)}, ${MINUTE}, ${recordType}, ${asked})`,
      )
      if (begun.rowsAffected > 0) return asked
      const select = 'SELECT taken, MOD(UNIX_TIMESTAMP(), 60) AS elapsed FROM new_key_budgets'
      const [row] = (await db.execute(`${select} WHERE ${minute}`)).rows
      // A new minute has begun.
      if (row === undefined) continue
      const left = perMinute - Number(row.taken)
      if (left <= 0) {
        this.#usedUpUntil.set(recordType, Date.now() + MINUTE_MS - Number(row.elapsed) * 1_000)
        return 0
      }
      asked = Math.min(asked, left)
    }
    return 0
  }
}

/** Deletes the budgets of past minutes, with one statement for each range that has any. */
export async function pruneBudgets(db: Executor & { ranges: number }, recordTypes: readonly number[]): Promise<void> {
  for (const range of new Set(recordTypes.map((recordType) => budgetRangeOf(recordType, db.ranges)))) {
    await db.execute(
      `DELETE FROM new_key_budgets
       WHERE ${idsSql('range_start', boundsOf(range, db.ranges).first)} AND minute < ${MINUTE} - ${KEPT_MINUTES} ORDER BY minute LIMIT ${MAX_PRUNED}`,
    )
  }
}
