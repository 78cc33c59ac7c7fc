import type { SharedReads } from '../../src/counters/shared-reads.ts'
import type { GroupCommit } from '../../src/counters/write/group-commit.ts'

/** The load that an observed Worker reports. */
export interface WorkerLoad {
  /** Requests begun since the start. */
  begun: number
  /** Requests that wait for a flush, and flushes in flight. */
  waiting: number
  flushes: number
  /** Reads that wait for a query, and queries in flight. */
  reads: { waiting: number; queries: number }
}

/** Requests that wait for a flush, once for each range, and flushes in flight. */
export function countingLoad(...commits: readonly GroupCommit[]) {
  return { waiting: sumOf(commits, ({ work }) => work.waiting), flushes: sumOf(commits, ({ leaders }) => leaders.size) }
}

/** Reads that wait for a query, once for each range, and queries in flight. */
export function readingLoad(...shared: readonly SharedReads<unknown>[]): WorkerLoad['reads'] {
  const ranges = shared.flatMap((reads) => reads.ranges)
  return {
    waiting: sumOf(ranges, ({ work }) => work.waiting),
    queries: sumOf(ranges, (reads) => reads.flights(Date.now()).length),
  }
}

function sumOf<Item>(items: readonly Item[], number: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + number(item), 0)
}
