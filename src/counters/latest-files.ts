import type { Executor } from '../database/database.ts'
import { toText } from '../database/values.ts'
import type { CounterPlace } from './counter-address.ts'
import { counterSql, counterValues } from './counters-sql.ts'

/** Whether a key may be the name of a latest file: it contains the word "latest". For other keys no download asks the database. */
export function isLatestName(key: string): boolean {
  return /(?<!\p{L})latest(?!\p{L})/iu.test(key)
}

/** The file, a key, that a name leads to; `null`: none. @param name the counter of the same key */
export async function readLatestFile(db: Executor, name: CounterPlace): Promise<string | null> {
  const { rows } = await db.execute(`SELECT file FROM latest_files WHERE ${counterSql(name)}`)
  return rows[0] === undefined ? null : toText(rows[0].file)
}

/** Makes a name lead to a file, unless a later request has been faster: an attempt of unknown outcome may arrive late. */
export async function writeLatestFile(db: Executor, name: CounterPlace, file: string, at: Date): Promise<void> {
  await db.execute(
    `INSERT INTO latest_files (record_type, record_id, bucket, file, named_at) VALUES (${counterValues(name)}, ?, ?)
     ON DUPLICATE KEY UPDATE file = IF(VALUES(named_at) < named_at, file, VALUES(file)), named_at = GREATEST(named_at, VALUES(named_at))`,
    [file, at],
  )
}
