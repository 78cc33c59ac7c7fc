import type { Database } from '../../database/database.ts'
import { toBigInt, toText } from '../../database/values.ts'
import type { RankedCounter } from '../counter-address.ts'
import { beginsWithSql, checkKeys, type KeysWithPrefix, namedSql, ROWS_OF_KEY, TooManyKeys } from '../keys/prefix.ts'
import { rangeSql } from '../ranges.ts'
import { readRows } from './read-history.ts'
import { countRows, partsSql } from './rows-sql.ts'
import type { Selection } from './selection.ts'

export const MAX_RANKED = 1_000
/** The most rows of a type that are added up, and the same for requests without a token. */
const MAX_ROWS = 200_000
export const MAX_PUBLIC_RANKED_ROWS = 20_000
/** vtgate collects the rows of a range that are passed over, and PlanetScale refuses a statement with more than 100,000. */
const MAX_ROWS_OF_RANGE = 50_000

/** Whether an index has the ranking, which then reads about as many rows as it returns: of a type, in all time, a day or a month. */
export function isIndexed({ name }: KeysWithPrefix, period: Selection | null): boolean {
  return name === '' && (period === null || (countRows([period], 0) === 1 && period[0]!.unit !== 'hour'))
}

/**
 * Reads the counters of a type or a prefix with the highest counts as of the last roll-up, positive ones only. Of equal counts, the higher
 * record id comes first. @param period `null`: all time
 * @param options `limit`: at most `MAX_RANKED`; `maxRows` that are added up, by default those of a token; `hoursFrom` as in `AskedHistory`
 * @throws {TooManyKeys} if too many rows would be added up
 */
export async function readRanking(
  db: Database,
  of: KeysWithPrefix,
  period: Selection | null,
  { limit, maxRows, hoursFrom }: { limit: number; maxRows?: number | undefined; hoursFrom: number },
): Promise<RankedCounter[]> {
  const { recordType, name: prefix } = of
  const isType = prefix === ''
  if (!isType) {
    // Each row of a key is looked up by its start.
    const rows = ROWS_OF_KEY + (period === null ? 0 : 2 * countRows([period], hoursFrom))
    await checkKeys(db, of, { rows, maxRows })
  }
  const select = async (columns: string, from: string) => {
    const { rows } = await db.execute(`SELECT ${columns} ${from} ORDER BY count DESC, record_id DESC LIMIT ${limit}`)
    const counters = rows.map(({ record_id, name, count }): RankedCounter => {
      return { recordType, recordId: toBigInt(record_id), name: toText(name ?? ''), count: toBigInt(count) }
    })
    return counters.filter(({ count }) => count > 0n)
  }
  if (period === null) {
    const keys = isType
      ? 'FORCE INDEX (ranking) WHERE'
      : `FORCE INDEX (name) WHERE ${beginsWithSql('name', prefix)} AND`
    return select('record_id, name, count', `FROM counters ${keys} record_type = ${recordType} AND count > 0`)
  }
  const parts = partsSql(isType ? { allOf: recordType } : { named: namedSql(of)[0]! }, period, hoursFrom)
  // In the first hour of a period, nothing is ranked yet.
  if (parts.length === 0) return []
  const indexed = isIndexed(of, period)
  if (isType && !indexed) await checkRows(db, parts, maxRows ?? MAX_ROWS)
  // The keys of a prefix are grouped in the order of their index.
  const id = isType ? 'h.record_id, h.bucket' : 'n.name, n.record_id, n.bucket'
  const ofUnion = id.replaceAll('n.', 'h.')
  const { from } = parts[0]!
  // A union is summed outside, because vtgate sends it to each shard whole.
  const union = parts.map(({ count, from }) => `SELECT ${id}, ${count} AS count ${from}`).join('\nUNION ALL ')
  const ranked = indexed
    ? await select('h.record_id, h.count', `${from} AND h.count > 0`)
    : parts.length === 1
      ? await select(`${id}, SUM(h.count) AS count`, `${from} GROUP BY ${id}`)
      : await select(`${ofUnion}, SUM(h.count) AS count`, `FROM (${union}) AS h GROUP BY ${ofUnion}`)
  if (!isType || ranked.length === 0) return ranked
  // Apart, because vtgate would not send the LIMIT to the shards with a subquery.
  const named = await readRows(db, ranked, { hoursFrom, names: true })
  return ranked.map((counter, place) => ({ ...counter, name: named[place]!.name }))
}

/** Counts at most the most rows, each range by itself. @throws {TooManyKeys} */
async function checkRows({ ranges, execute }: Database, parts: readonly { from: string }[], maxRows: number) {
  const most = ranges === 1 ? maxRows : Math.min(maxRows, ranges * MAX_ROWS_OF_RANGE)
  const counting = Array.from({ length: ranges }, async (_, range) => {
    const within = rangeSql('h', range, ranges)
    const selects = parts.map(({ from }) => `(SELECT 1 ${from} ${within} LIMIT ${Math.ceil(most / ranges)}, 1)`)
    return (await execute(selects.join('\nUNION ALL '))).rows.length > 0
  })
  if (!(await Promise.all(counting)).includes(true)) return
  throw new TooManyKeys(
    `Ranking the counters of this period would add up more than ${most} counts. Ask for a single day, a month, or all time.`,
  )
}
