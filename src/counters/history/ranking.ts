import type { Executor } from '../../database/database.ts'
import { packedSql, toBigInt, toText, unpack } from '../../database/values.ts'
import { DAY_MS, dayText, PERIODS, timeText } from '../calendar.ts'
import type { KeyedType, RankedCounter } from '../keys/counter-address.ts'
import { checkPrefix, fromNamesSql, type KeysWithPrefix, ofPrefixSql, ROWS_OF_KEY } from '../keys/prefix.ts'
import type { Span } from './comparison.ts'
import { readRows } from './list-rows.ts'
import { type Part, type Selection, selectionOf } from './selection.ts'

/** The most counters in a ranking. */
export const MAX_RANKED = 1_000
/** The most candidates that are added up, those read from each part of a period, and those from all parts: for each row. */
const CANDIDATES = 1.5
const IN_ALL_PARTS = 15
/** Rankings with fewer rows look at as many as one with so many. */
const LEAST_RANKED = 100

/** The counters with the highest counts in a period, highest first. */
export interface Ranking {
  counters: RankedCounter[]
  /** Whether there are, or may be, more. */
  more: boolean
  /** Whether no other counter can belong among them. */
  certain: boolean
}

/**
 * Ranks the counters of a type by their counts in a period, as of the last roll-up. No index has the sums of any period, but one
 * has the first counters of each day, week and month. Those are added up exactly: a counter that leads in a period usually leads
 * in a part of it. So the cost depends on the length of the period, not on the number of counters.
 * @param limit at most `MAX_RANKED`
 */
export async function readRanking(db: Executor, type: KeyedType, period: Span, limit: number): Promise<Ranking> {
  const { recordIds, mostOfOthers } = await readCandidates(db, type, selectionOf(period), limit)
  const candidates = recordIds.map((recordId) => ({ recordType: type.recordType, recordId }))
  const { counts, names } = await readRows(db, candidates, { spans: [period], names: true })
  const ranked = candidates
    .map((place, index) => ({ ...place, name: names[index]!, count: counts[0]![index]! }))
    .filter(({ count }) => count > 0n)
    .sort((a, b) => (a.count < b.count ? 1 : a.count > b.count ? -1 : a.recordId < b.recordId ? 1 : -1))
  const listed = ranked.slice(0, limit)
  return {
    counters: listed,
    // Only the first counters of each part were read.
    more: ranked.length > limit || (listed.length < limit && mostOfOthers > 0n),
    certain: mostOfOthers <= (listed.at(-1)?.count ?? 0n),
  }
}

/**
 * Reads the first counters of each part of a period.
 * @returns those that may be among the first of the period, and the most that any other counter can have in it
 */
async function readCandidates(
  db: Executor,
  { recordType }: KeyedType,
  { parts, hours }: Selection,
  limit: number,
): Promise<{ recordIds: bigint[]; mostOfOthers: bigint }> {
  // Days of which only hours count, too.
  const added = hours.filter(({ sign }) => sign === '+')
  const looked = [
    ...parts,
    ...added.map(({ from }) => ({ period: 'day', start: Math.floor(from / DAY_MS) * DAY_MS }) as const),
  ]
  const most = Math.ceil(CANDIDATES * Math.max(limit, LEAST_RANKED))
  const inAll = Math.ceil((IN_ALL_PARTS * Math.max(limit, LEAST_RANKED)) / looked.length)
  const perPart = Math.max(Math.min(limit, LEAST_RANKED), Math.min(most, inAll))
  // Columns say which part a row is from. If they were constants, or packed in each part, vtgate would sometimes refuse the UNION
  // of limited parts ("argument offsets did not line up").
  const first = looked.map(
    ({ period, start }) => `(SELECT period, period_start, record_id, count FROM counter_periods FORCE INDEX (ranking)
          WHERE record_type = ${recordType} AND period = ${PERIODS[period]} AND period_start = '${dayText(start)}' AND count > 0
          ORDER BY count DESC, record_id DESC LIMIT ${perPart})`,
  )
  const { rows } = await db.execute(
    `SELECT ${packedSql('period', 'period_start', 'record_id', 'count')} FROM (${first.join('\nUNION ALL ')}) AS leaders`,
  )
  const countsIn = new Map(
    looked.map(({ period, start }) => [`${PERIODS[period]} ${dayText(start)}`, new Map<string, bigint>()]),
  )
  const known = new Map<string, bigint>()
  for (const row of rows) {
    const [period, start, id, text] = unpack(row) as [string, string, string, string]
    countsIn.get(`${period} ${start}`)!.set(id, BigInt(text))
    known.set(id, (known.get(id) ?? 0n) + BigInt(text))
  }
  // What a counter may have at most in a part in which it was not found.
  const leaders = [...countsIn.values()].map((counts) => {
    return { counts, unseen: counts.size < perPart ? 0n : [...counts.values()].reduce((a, b) => (a < b ? a : b)) }
  })
  const possible = (id: string) => leaders.reduce((sum, { counts, unseen }) => sum + (counts.get(id) ?? unseen), 0n)
  const ids = [...known].sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0)).map(([id]) => id)
  const unseenInAll = leaders.reduce((sum, { unseen }) => sum + unseen, 0n)
  const mostOfOthers = ids
    .slice(most)
    .map(possible)
    .reduce((a, b) => (a > b ? a : b), unseenInAll)
  return { recordIds: ids.slice(0, most).map(BigInt), mostOfOthers }
}

/**
 * Ranks the counters whose keys begin with a prefix by their counts in a period, as of the last roll-up, positive ones only. It
 * looks up each key in each part, so it is exact and costs the same however long the counters have counted.
 * @param period `null`: all time
 * @param options `limit`: at most `MAX_RANKED`; `maxRows`: as for `checkPrefix`
 * @throws {TooManyKeys}
 */
export async function readPrefixRanking(
  db: Executor,
  of: KeysWithPrefix,
  period: Span | null,
  { limit, maxRows }: { limit: number; maxRows?: number | undefined },
): Promise<RankedCounter[]> {
  const { parts, hours } = period === null ? { parts: [], hours: [] } : selectionOf(period)
  // At most a day of hours at each end.
  await checkPrefix(db, of, { rows: 2 * parts.length + 24 * hours.length + ROWS_OF_KEY, maxRows })
  const starts = parts.map(
    ({ period, start }) => `SELECT ${PERIODS[period]} AS period, DATE '${dayText(start)}' AS period_start`,
  )
  // Not a look-up in the select list for each part: vtgate plans a dozen of those for seconds.
  const ofParts = fromNamesSql(
    of,
    `(${starts.join(' UNION ALL ')}) AS p STRAIGHT_JOIN counter_periods AS t FORCE INDEX (PRIMARY)`,
    't',
  )
  const sources = [
    ...(parts.length > 0
      ? [{ count: 't.count', from: `${ofParts} AND t.period = p.period AND t.period_start = p.period_start` }]
      : []),
    ...hours.map(({ sign, from, to }) => ({
      count: `${sign}t.count`,
      from: `${fromNamesSql(of, 'counter_history AS t FORCE INDEX (PRIMARY)', 't')}
        AND t.period_start >= '${timeText(from)}' AND t.period_start < '${timeText(to)}'`,
    })),
    ...(period ? [] : [{ count: 'n.count', from: ofPrefixSql(of, 'n') }]),
  ]
  // In the first hour of a period, nothing is ranked yet.
  if (sources.length === 0) return []
  const selects = sources.map(({ count, from }) => `SELECT n.record_id, n.name, ${count} AS count ${from}`)
  // A union is summed outside, because vtgate sends it to each shard whole. A single source is grouped in the order of its index.
  const summed =
    selects.length > 1
      ? `SELECT n.record_id, n.name, SUM(n.count) AS count FROM (${selects.join('\nUNION ALL ')}) AS n`
      : `SELECT n.record_id, n.name, SUM(${sources[0]!.count}) AS count ${sources[0]!.from}`
  const { rows } = await db.execute(
    `${summed} GROUP BY n.name, n.record_id ORDER BY count DESC, n.record_id DESC LIMIT ${limit}`,
  )
  const ranked = rows.map(({ record_id, name, count }) => ({
    recordType: of.recordType,
    recordId: toBigInt(record_id),
    name: toText(name),
    count: toBigInt(count),
  }))
  return ranked.filter(({ count }) => count > 0n)
}

export const MAX_TOP = 100

/**
 * Reads the counters of a type with the highest counts as of the last roll-up, highest first, positive ones only. Of equal
 * counts, the higher record id comes first.
 * @param part a calendar period in UTC; `null`: all time
 * @param limit at most `MAX_TOP`. About as many rows are read, however many counters there are.
 */
export async function readTop(
  db: Executor,
  { recordType }: KeyedType,
  part: Part | null,
  limit: number,
): Promise<RankedCounter[]> {
  const first = (columns: string, from: string, condition: string) =>
    `SELECT ${columns}, t.count, t.record_id FROM ${from} WHERE t.record_type = ${recordType} ${condition}
     AND t.count > 0 ORDER BY t.count DESC, t.record_id DESC LIMIT ${limit}`
  // A counter's rows are on one shard, so vtgate sends this whole to each shard, and merges the first rows.
  const { rows } = await db.execute(
    part === null
      ? first('t.name', 'counters AS t FORCE INDEX (ranking)', '')
      : first(
          'n.name',
          `counter_periods AS t FORCE INDEX (ranking)
           JOIN counters AS n ON n.record_type = t.record_type AND n.record_id = t.record_id`,
          `AND t.period = ${PERIODS[part.period]} AND t.period_start = '${dayText(part.start)}'`,
        ),
  )
  return rows.map(({ name, count, record_id }) => {
    return { recordType, recordId: toBigInt(record_id), name: toText(name), count: toBigInt(count) }
  })
}
