export interface CounterPlace {
  recordType: number
  recordId: bigint
}

export interface CounterAddress extends CounterPlace {
  /** The key, in the spelling that is counted. */
  name: string
  /** What `counterId` returns, if it is kept. */
  readonly id?: string
}

/** A counter with the count by which it is ranked. */
export type RankedCounter = CounterAddress & { count: bigint }

/** Identifies a counter in maps and sets. */
export function counterId(counter: CounterPlace & { id?: string }): string {
  return counter.id ?? `${counter.recordType}/${counter.recordId}`
}

/** Each counter once. */
export function distinct<Counter extends CounterPlace>(counters: readonly Counter[]): Counter[] {
  return [...new Map(counters.map((counter) => [counterId(counter), counter])).values()]
}

/** Orders by primary key. Every statement lists its rows in this order, so that no two lock them in opposite orders. */
export function byPrimaryKey(a: CounterPlace & { slot?: bigint }, b: CounterPlace & { slot?: bigint }): number {
  if (a.recordType !== b.recordType) return a.recordType - b.recordType
  if (a.recordId !== b.recordId) return a.recordId < b.recordId ? -1 : 1
  const [slotA, slotB] = [a.slot ?? 0n, b.slot ?? 0n]
  return slotA < slotB ? -1 : slotA > slotB ? 1 : 0
}
