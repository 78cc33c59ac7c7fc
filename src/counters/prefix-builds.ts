import type { Executor } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { toText } from '../database/text.ts'
import { boundsOf, rangeOf, rangeStarts } from './ranges.ts'

/** Transactions of one range that may add to the same sums at the same time. Each adds to rows of its own. */
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

/** A prefix, and which counters of a range are in its sums. */
export interface PrefixBuild extends Prefix {
  /** The range for which the row was written. It stands for smaller ones, too, that have no row of their own yet. */
  rangeStart: bigint
  /** The last name that is in the sums; `null` if none is yet. Names are in the order of their bytes. */
  builtTo: string | null
  /** Whether all are. */
  complete: boolean
}

/** What is kept in a range for the prefixes of one type. */
export interface TypeBuilds {
  /** It changes whenever a build does. */
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
 * Reads what is kept in a range, by record type. While the range has no rows of its own, those of the smallest range that
 * contained it apply: the number of ranges may have been raised since.
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
    const of = found.get(recordType) ?? { version: null, builds: new Map<bigint, PrefixBuild>() }
    found.set(recordType, of)
    if (hash === 0n) {
      if (at === rangeStart) of.version = toBigInt(row.version)
      continue
    }
    const known = of.builds.get(hash)
    if (known !== undefined && known.rangeStart > at) continue
    of.builds.set(hash, {
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
      // Rows of its own come all at once, with a version. A prefix without one then was taken out by hand.
      const apply = [...builds.values()].filter((build) => version === null || build.rangeStart === rangeStart)
      return [type, { version: version ?? 0n, builds: apply }]
    }),
  )
}

/** The first record ids of all ranges that contain a range, with as many ranges as there are now or fewer, the smallest range last. */
export function coveringStarts(rangeStart: bigint, ranges: number): bigint[] {
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
