import type { Executor } from '../../database/database.ts'
import { packedSql, unpack } from '../../database/values.ts'
import { ADJUSTMENTS_SUM, earliest, PERIODS } from '../calendar.ts'
import type { CounterPlace } from '../counter-address.ts'
import { counterListsSql, nthSql } from '../counters-sql.ts'
import type { AskedHistory, HistoryRows } from '../history/read-history.ts'
import { ALL_LANES, hoursSql, packedRowsSql, rowsSql, unpackCounts, type Whose } from '../history/rows-sql.ts'
import { addCounts, type Counts, noCounts, rowsOf } from '../history/selection.ts'
import { fromNamesSql, type KeysWithPrefix, type NamedSql, namedSql, type SummedKeys } from '../keys/prefix.ts'
import { rangeStarts } from '../ranges.ts'
import type { Reading } from './read-counters.ts'

/** The most pending slots of a type that are added up. */
export const MAX_PENDING_OF_TYPE = 10_000
/** The same for requests without a token. */
export const MAX_PUBLIC_PENDING_OF_TYPE = 500

export interface AskedSum {
  /** Whether the total of all time is read. */
  withTotal: boolean
  history: AskedHistory | null
  /** The most pending slots that are added up. With more slots, or with 0, the sum is as of the last roll-up. */
  mostPending: number
  /** Keys whose parts of the history and of what is pending are read, too. */
  keys?: readonly CounterPlace[]
}

export interface Sum extends Reading {
  /** 0 if it was not asked for. */
  total: bigint
  /** The last roll-up that left nothing pending. */
  rolledUpAt: Date | null
  counts: Counts
  /** Those of the keys, in their order. */
  parts: Pick<HistoryRows, 'counts' | 'pending'>[]
}

/**
 * Reads the sum of a type, or of keys that `checkKeys` has checked, from one snapshot of each shard, so a roll-up is seen whole or not at
 * all: as a part of the statement names no record id, vtgate sends all of it to each shard.
 */
export async function readSum(db: Executor, of: SummedKeys, asked: AskedSum, ranges: number): Promise<Sum> {
  const { keys = [] } = asked
  const isExact = asked.mostPending > 0 && (await hasFewPending(db, of.recordType, asked.mostPending))
  const isType = 'name' in of && of.name === ''
  const { rows } = await db.execute(isType ? typeSql(of, asked, isExact) : keysSql(of, asked, isExact))
  const runs = new Map<bigint, Date>()
  const sums = { total: 0n, pending: 0n }
  const counts = noCounts()
  const parts = keys.map(() => ({ counts: noCounts(), pending: isExact ? 0n : null }))
  for (const row of rows) {
    const [part, id, sum, more] = isType ? unpack(row) : [row.part, row.id, row.sum, row.nth].map(String)
    if (part === 'run') runs.set(BigInt(id!), new Date(Number(sum)))
    else if (part === 'total') sums.total += BigInt(sum!)
    else if (part === 'pending') {
      sums.pending += BigInt(sum!)
      const own = parts[Number(isType ? id : more) - 1]
      if (own) own.pending! += BigInt(sum!)
    } else if (isType) {
      const own = id === ALL_LANES ? counts : parts[keys.findIndex(({ recordId }) => `${recordId}` === id)]!.counts
      addCounts(own, part!, unpackCounts(sum!, more!))
    } else {
      const own = parts[Number(more) - 1]
      for (const to of [counts, ...(own ? [own.counts] : [])]) addCounts(to, part!, [[Number(id), BigInt(sum!)]])
    }
  }
  return {
    total: sums.total,
    pending: isExact ? sums.pending : null,
    rolledUpAt: earliest(rangeStarts(ranges).map((start) => runs.get(start) ?? null)),
    counts,
    parts,
  }
}

/** Reads the history of a sum as of the last roll-up: adding up what is pending would cost more with every counter. */
export async function readSumHistory(db: Executor, of: KeysWithPrefix, history: AskedHistory): Promise<HistoryRows> {
  const { counts, pending } = await readSum(db, of, { withTotal: false, history, mostPending: 0 }, 1)
  return { counts, pending, adjustments: [] }
}

/** Reads at most `most` + 1 entries: the index has one for each slot that is not empty. */
async function hasFewPending(db: Executor, recordType: number, most: number): Promise<boolean> {
  const pending = `slotted_counters FORCE INDEX (pending) WHERE pending = 1 AND record_type = ${recordType}`
  return (await db.execute(`SELECT 1 FROM ${pending} LIMIT ${most}, 1`)).rows.length === 0
}

const RUNS = `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', caught_up_at) DIV 1000`
const SLOTS = 'slotted_counters AS s FORCE INDEX (pending)'
const FROM_RUNS = 'FROM rollup_state WHERE caught_up_at IS NOT NULL'

/** Grouped by bucket, which names the shard, and not added up: vtgate would ask for each part apart, and not read a shard from one snapshot. */
function typeSql({ recordType }: SummedKeys, { withTotal, history, keys = [] }: AskedSum, isExact: boolean): string {
  const nth = nthSql('record_id', keys)
  const ofType = `record_type = ${recordType}`
  const total = `FROM type_history FORCE INDEX (PRIMARY) WHERE ${ofType} AND period IN (${PERIODS.month}, ${ADJUSTMENTS_SUM})`
  const pending = `FROM slotted_counters FORCE INDEX (pending) WHERE pending = 1 AND ${ofType}`
  const rows = (whose: Whose, id: 'range_lane' | 'record_id') =>
    history === null ? [] : packedRowsSql(whose, history.selections, history.hoursFrom, id)
  const byKey = keys.length > 0 ? `, ${nth}` : ''
  return [
    ...rows({ type: recordType }, 'range_lane'),
    ...counterListsSql(keys, 'h.').flatMap((counters) => rows({ counters }, 'record_id')),
    withTotal && `SELECT ${packedSql("'total'", '0', 'SUM(count)')} ${total} GROUP BY bucket`,
    isExact && `SELECT ${packedSql("'pending'", `MAX(${nth})`, 'SUM(count)')} ${pending} GROUP BY bucket${byKey}`,
    `SELECT ${packedSql("'run'", 'range_start', RUNS)} ${FROM_RUNS}`,
  ]
    .filter((part) => part !== false)
    .join('\nUNION ALL ')
}

/** Summed outside of the union, which vtgate sends to each shard whole. Not packed: vtgate adds the sums of the shards up. */
function keysSql(of: SummedKeys, { withTotal, history, keys = [] }: AskedSum, isExact: boolean): string {
  const units = history ? [...rowsOf(history.selections, history.hoursFrom)] : []
  const partsOf = (named: NamedSql) => [
    ...units.map(
      ([unit, times]) =>
        `SELECT '${unit}', ${hoursSql('h.period_start')}, ${nthSql('h.record_id', keys)}, h.count ${rowsSql({ named }, [[unit, times]])}`,
    ),
    withTotal && `SELECT 'total', 0, 0, n.count FROM counters AS n FORCE INDEX (${named.index}) WHERE ${named.where}`,
    isExact &&
      `SELECT 'pending', 0, ${nthSql('s.record_id', keys)}, s.count ${fromNamesSql(named, SLOTS, 's')} AND s.pending = 1`,
  ]
  const runs = `SELECT 'run' AS part, range_start AS id, 0 AS nth, ${RUNS} AS number ${FROM_RUNS}`
  const parts = [runs, ...namedSql(of).flatMap(partsOf)].filter((part) => part !== false)
  return `SELECT part, id, nth, SUM(number) AS sum FROM (${parts.join('\nUNION ALL ')}) AS parts GROUP BY part, id, nth`
}
