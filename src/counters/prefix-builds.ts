import type { Executor } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { toText } from '../database/text.ts'
import { boundsOf, rangeOf, rangeStarts } from './ranges.ts'

/** How many transactions of one range may add to the same sums at the same time: each lane has rows of its own. */
export const MAX_LANES = 6
/** Record ids from one lane to the next range, at most: the lowest bits of `range_lane`. */
const LANE_BITS = 0xffn

const encoder = new TextEncoder()

/** A prefix of keys whose sums are kept. */
export interface Prefix {
  recordType: number
  hash: bigint
  text: string
}

/** A prefix, and which counters of a range its sums include. */
export interface PrefixBuild extends Prefix {
  /** The first record id of the range for which the row was written. It stands for smaller ranges that have no row yet. */
  rangeStart: bigint
  /** The last name whose counter is included, in the order of the names' bytes; `null` if none is yet. */
  builtTo: string | null
  /** Whether all counters are included. */
  complete: boolean
}

/** The builds of a type in a range. */
export interface TypeBuilds {
  /** Raised whenever a build changes. */
  version: bigint
  builds: readonly PrefixBuild[]
}

/**
 * A random lane of a counter's range, for a request that changes the counter. So requests seldom wait for each other, and a
 * retry seldom meets the locks of a transaction whose answer was lost.
 */
export function laneOf({ ranges }: { ranges: number }, { recordId }: { recordId: bigint }): bigint {
  return boundsOf(rangeOf(recordId, ranges), ranges).first + BigInt(Math.floor(Math.random() * MAX_LANES))
}

/** The first record id of the range of a lane. */
export function rangeStartOf(rangeLane: bigint): bigint {
  return rangeLane & ~LANE_BITS
}

/**
 * Reads the builds of a range, by record type. If the number of ranges was raised and the range has no rows of its own yet, those
 * of the smallest range that contained it apply.
 *
 * @param recordTypes `null` for all
 */
export async function readBuilds(
  db: Executor,
  rangeStart: bigint,
  ranges: number,
  recordTypes: readonly number[] | null = null,
): Promise<Map<number, TypeBuilds>> {
  const of = recordTypes === null ? '' : `AND record_type IN (${recordTypes.join(',')})`
  const { rows } = await db.execute(
    `SELECT record_type, prefix_hash, range_start, prefix, built_to, complete, version
     FROM prefix_builds WHERE range_start IN (${coveringStarts(rangeStart, ranges).join(',')}) ${of}`,
  )
  const found = new Map<number, { version: bigint | null; builds: Map<bigint, PrefixBuild> }>()
  for (const row of rows) {
    const recordType = Number(row.record_type)
    const hash = toBigInt(row.prefix_hash)
    const at = toBigInt(row.range_start)
    const kept = found.get(recordType) ?? { version: null, builds: new Map<bigint, PrefixBuild>() }
    found.set(recordType, kept)
    if (hash === 0n) {
      if (at === rangeStart) kept.version = toBigInt(row.version)
      continue
    }
    const known = kept.builds.get(hash)
    if (known !== undefined && known.rangeStart > at) continue
    kept.builds.set(hash, {
      recordType,
      hash,
      text: toText(row.prefix),
      rangeStart: at,
      builtTo: row.built_to === null ? null : toText(row.built_to),
      complete: Number(row.complete) === 1,
    })
  }
  return new Map(
    [...found].map(([type, { version, builds }]) => {
      // A range gets its rows all at once, with a version. So a prefix that has none then was taken out by hand.
      const apply = [...builds.values()].filter((build) => version === null || build.rangeStart === rangeStart)
      return [type, { version: version ?? 0n, builds: apply }]
    }),
  )
}

/** The first record ids of the ranges that contain a range, if there were as many as now, half as many and so on; the smallest last. */
function coveringStarts(rangeStart: bigint, ranges: number): bigint[] {
  const starts = new Set<bigint>()
  for (let fewer = 1; fewer <= ranges; fewer *= 2) starts.add(boundsOf(rangeOf(rangeStart, fewer), fewer).first)
  return [...starts]
}

/**
 * Whether the sums of a prefix include all counters of all ranges.
 *
 * @param complete by the first record id of a range, as it is stored
 */
export function isComplete(complete: ReadonlyMap<bigint, boolean>, ranges: number): boolean {
  return rangeStarts(ranges).every((start) => {
    const covering = coveringStarts(start, ranges).findLast((covering) => complete.has(covering))
    return covering !== undefined && complete.get(covering)
  })
}

/** Whether a counter is in the sums of a prefix. */
export function includes({ text, builtTo, complete }: PrefixBuild, name: string): boolean {
  if (!name.startsWith(text)) return false
  return complete || (builtTo !== null && hex(name) <= hex(builtTo))
}

/** The bytes of a text as SQL. As bytes they are compared by no collation. */
export function bytesSql(text: string): string {
  return `x'${hex(text)}'`
}

/** SQL that holds for names that begin with a prefix. UTF-8 has no byte 0xFF, so it sorts after every one of them. */
export function beginsWithSql(column: string, prefix: string): string {
  return `${column} >= x'${hex(prefix)}' AND ${column} < x'${hex(prefix)}FF'`
}

function hex(text: string): string {
  return [...encoder.encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
