import type { Executor } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { toText } from '../database/text.ts'
import { type Counter, counterOf, InvalidKey, type KeyedType, MAX_KEY_BYTES } from './counter.ts'
import { readCounters } from './read.ts'
import type { NamedCount } from './top.ts'

/** Most counters that one page holds. */
export const MAX_PAGE = 100

const encoder = new TextEncoder()

/** Which keys are looked for. */
export interface Search {
  /** What they begin with; of an integer key, all of it. Empty: all keys. */
  prefix: string
  /** The last key of the page before; `null`: from the beginning. */
  after: string | null
  /** At most `MAX_PAGE`. */
  limit: number
}

/** Counters in key order, and the key after which the next page begins; `null`: there is none. */
export interface SearchPage {
  counters: NamedCount[]
  next: string | null
}

/** Thrown for a search that finds nothing whatever there is: which field is wrong, and what it must be. */
export class InvalidSearch extends Error {
  readonly field: 'prefix' | 'after'
  constructor(field: 'prefix' | 'after', message: string) {
    super(message)
    this.field = field
  }
}

/**
 * Finds counters by the beginning of their keys, with their exact counts. Text is in the order of its bytes. About as many rows
 * are read as are found, whatever there is.
 *
 * Of a type with integer keys, the counters that were ever rolled up, in the order of their numbers; a prefix is one of them.
 *
 * @throws {InvalidSearch}
 * @throws {DatabaseFailure}
 */
export async function searchCounters(db: Executor, type: KeyedType, search: Search): Promise<SearchPage> {
  const { prefix, after, limit } = search
  if (type.key === 'integer') {
    const one = prefix === '' ? null : await integerOf(type, 'prefix', prefix)
    const last = after === null ? null : await integerOf(type, 'after', after)
    if (one !== null) return pageOf(db, last === null || one.recordId > last.recordId ? [one] : [], limit)
    return pageOf(db, await readIds(db, type.recordType, last, limit + 1), limit)
  }
  checkText('prefix', prefix)
  if (after !== null) checkText('after', after)
  return pageOf(db, await findNames(db, type.recordType, search), limit)
}

/** The page that counters make, of which there is one more than fits if there is another page. */
async function pageOf(db: Executor, found: readonly Counter[], limit: number): Promise<SearchPage> {
  const page = found.slice(0, limit)
  const readings = await readCounters(db, page)
  const counters = page.map((counter, index) => {
    const { total, pending } = readings[index]!
    return { key: counter.name ?? String(counter.recordId), count: total + pending }
  })
  return { counters, next: found.length > limit ? counters.at(-1)!.key : null }
}

async function findNames(db: Executor, recordType: number, { prefix, after, limit }: Search): Promise<Counter[]> {
  // As bytes, which no collation has a say in. 0xFF occurs in no UTF-8, so it comes after all that begin with the prefix.
  const begin = hex(prefix)
  const { rows } = await db.execute(
    `SELECT record_id, name FROM counter_names FORCE INDEX (name)
     WHERE record_type = ? AND name >= x'${begin}' AND name < x'${begin}FF' ${after === null ? '' : `AND name > x'${hex(after)}'`}
     ORDER BY name LIMIT ?`,
    [recordType, limit + 1],
  )
  return rows.map((row) => ({ recordType, recordId: toBigInt(row.record_id), name: toText(row.name) }))
}

async function readIds(db: Executor, recordType: number, after: Counter | null, limit: number): Promise<Counter[]> {
  const { rows } = await db.execute(
    `SELECT record_id FROM counter_totals FORCE INDEX (PRIMARY)
     WHERE record_type = ? ${after === null ? '' : `AND record_id > ${after.recordId}`} ORDER BY record_id LIMIT ?`,
    [recordType, limit],
  )
  return rows.map((row) => ({ recordType, recordId: toBigInt(row.record_id), name: null }))
}

async function integerOf(type: KeyedType, field: 'prefix' | 'after', text: string): Promise<Counter> {
  try {
    return await counterOf(type, text)
  } catch (error) {
    if (error instanceof InvalidKey) throw new InvalidSearch(field, error.message)
    throw error
  }
}

function checkText(field: 'prefix' | 'after', text: string): void {
  if (encoder.encode(text).length > MAX_KEY_BYTES) {
    throw new InvalidSearch(field, `must have at most ${MAX_KEY_BYTES} bytes of UTF-8, as keys do`)
  }
}

function hex(text: string): string {
  return [...encoder.encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
