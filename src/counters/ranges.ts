import { bucketsSql } from '../database/buckets.ts'

/*
 * A range is one of R equal parts of the record ids, which are unsigned 64-bit numbers. R is a power of two and at least the
 * number of shards, so a range is on one shard. No statement that writes, and no transaction, spans two ranges: see
 * docs/decisions/0028-nothing-spans-two-ranges.md.
 */

export const MAX_RANGES = 256

const ID_BITS = 64

export const LARGEST_ID = 2n ** 64n - 1n

/** The number of the range that contains a record id. */
export function rangeOf(recordId: bigint, ranges: number): number {
  return Number(recordId >> bitsPerRange(ranges))
}

/** The first and the last record id of a range. */
export function boundsOf(range: number, ranges: number): { first: bigint; last: bigint } {
  const width = bitsPerRange(ranges)
  return { first: BigInt(range) << width, last: (BigInt(range + 1) << width) - 1n }
}

/** Transactions of a range that may add to the same sums at once: each lane has its own rows. A Worker has 6 connections. */
export const MAX_LANES = 6

/** A random lane: requests seldom wait for each other, and a retry seldom for a transaction whose answer was lost. */
export function laneOf({ ranges }: { ranges: number }, { recordId }: { recordId: bigint }): bigint {
  return boundsOf(rangeOf(recordId, ranges), ranges).first + BigInt(Math.floor(Math.random() * MAX_LANES))
}

/** An SQL condition that follows others: only rows `of` a range, of any type. */
export function rangeSql(of: string, range: number, ranges: number): string {
  return ranges === 1
    ? ''
    : `AND ${bucketsSql(
        rangeStarts(MAX_RANGES).filter((id) => rangeOf(id, ranges) === range),
        `${of}.bucket`,
      )}`
}

export function rangeStarts(ranges: number): bigint[] {
  return Array.from({ length: ranges }, (_, range) => boundsOf(range, ranges).first)
}

/** Splits rows by range. Keeps the order of rows. Ranges without rows are left out. */
export function rowsByRange<Row extends { recordId: bigint }>(rows: readonly Row[], ranges: number) {
  return Map.groupBy(rows, ({ recordId }) => rangeOf(recordId, ranges))
}

function bitsPerRange(ranges: number): bigint {
  return BigInt(ID_BITS - Math.log2(ranges))
}
