import type { Executor } from '../database/database.ts'
import { toText } from '../database/text.ts'

/*
 * The table of salts, one for each day. All of its rows are in the first range. A day is the number of days since 1970-01-01 UTC.
 */

/** Seconds by which the clocks of Workers and the database may differ. */
const CLOCKS_DIFFER = 600

/** Reads the salt of a day, in hexadecimal digits; `null` if there is none. */
export async function readSalt(db: Executor, day: number): Promise<string | null> {
  const { rows } = await db.execute(
    `SELECT HEX(salt) AS salt FROM visitor_salts WHERE range_start = 0 AND day = ${day}`,
  )
  return rows.length === 0 ? null : toText(rows[0]!.salt)
}

/** Stores a salt, unless its day has one already. It is the salt of that day only if it is the one that is read afterwards. */
export async function offerSalt(db: Executor, day: number, salt: string): Promise<void> {
  await db.execute(`INSERT IGNORE INTO visitor_salts (range_start, day, salt) VALUES (0, ${day}, X'${salt}')`)
}

/**
 * Deletes the salts of days whose windows are all over. The clock is that of the database.
 *
 * @param longestWindow seconds that the longest window lasts; it may begin at the end of a day
 * @returns the number of salts deleted
 */
export async function deleteOldSalts(db: Executor, longestWindow: number): Promise<number> {
  const { rowsAffected } = await db.execute(
    `DELETE FROM visitor_salts
     WHERE range_start = 0 AND day < FLOOR((UNIX_TIMESTAMP() - ${longestWindow + CLOCKS_DIFFER}) / 86400)`,
  )
  return rowsAffected
}
