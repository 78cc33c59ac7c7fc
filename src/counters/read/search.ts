import type { Executor } from '../../database/database.ts'
import { toBigInt, toText } from '../../database/values.ts'
import { InvalidInput } from '../../schemas.ts'
import type { CounterAddress } from '../counter-address.ts'
import { byteLength, type KeyedType, MAX_KEY_BYTES } from '../keys/key-address.ts'
import { LISTED_SQL } from '../keys/names.ts'
import { beginsWithSql, bytesSql, type KeysWithPrefix } from '../keys/prefix.ts'
import { consistencyOf, countIn, readCounters } from './read-counters.ts'

export const MAX_PAGE = 100

export interface Search {
  /** The beginning of the keys; empty for all keys. */
  prefix: string
  /** The last key of the previous page. */
  after: string | null
  limit: number
}

/** Finds counters by the beginning of their keys, in the order of bytes, with counts. @throws {InvalidInput} of `prefix` or `after` */
export async function searchCounters(db: Executor, type: KeyedType, search: Search) {
  const { counters: page, next } = await findCounters(db, type, search)
  const readings = await readCounters(db, page)
  const counters = readings.map((reading, index) => {
    return { key: page[index]!.name, count: countIn(reading), consistency: consistencyOf(reading) }
  })
  return { counters, next }
}

/** The beginning of the keys that a search finds, as they are spelled. @throws {InvalidInput} of field `prefix` */
export function searchedPrefix({ sameKey }: KeyedType, text: string): string {
  // Of the spellings, only this one concerns the beginning of a key.
  const prefix = sameKey?.includes('letter_case') ? text.toLowerCase() : text
  checkText('prefix', prefix)
  return prefix
}

/** The counters that `searchCounters` finds, without their counts. */
export async function findCounters(db: Executor, type: KeyedType, { after, limit, ...search }: Search) {
  const prefix = searchedPrefix(type, search.prefix)
  if (after !== null) checkText('after', after)
  const { recordType } = type
  const { rows } = await db.execute(
    `SELECT record_id, name FROM counters AS n FORCE INDEX (name)
     WHERE record_type = ${recordType} AND ${beginsWithSql('name', prefix)} ${after === null ? '' : `AND name > ${bytesSql(after)}`}
       AND ${LISTED_SQL}
     ORDER BY name LIMIT ${limit + 1}`,
  )
  const counters = rows.slice(0, limit).map((row): CounterAddress => {
    return { recordType, recordId: toBigInt(row.record_id), name: toText(row.name) }
  })
  return { counters, next: rows.length > limit ? counters.at(-1)!.name : null }
}

/** The number of counters whose keys begin with a prefix; `null` if there are more than `most`. */
export async function countKeys(db: Executor, { recordType, name: prefix }: KeysWithPrefix, most: number) {
  const { rows } = await db.execute(
    `SELECT COUNT(*) AS found FROM (SELECT 1 FROM counters AS n FORCE INDEX (name)
     WHERE record_type = ${recordType} AND ${beginsWithSql('name', prefix)} AND ${LISTED_SQL}
     LIMIT ${most + 1}) AS s`,
  )
  const found = Number(toBigInt(rows[0]?.found))
  return found > most ? null : found
}

function checkText(field: 'prefix' | 'after', text: string): void {
  if (byteLength(text) > MAX_KEY_BYTES) {
    throw new InvalidInput(field, `must have at most ${MAX_KEY_BYTES} bytes of UTF-8, as keys do`)
  }
}
