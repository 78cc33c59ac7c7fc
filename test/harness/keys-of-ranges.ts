import { inject } from 'vitest'
import type { CounterAddress } from '../../src/counters/counter-address.ts'
import { addressOfKey } from '../../src/counters/keys/key-address.ts'
import { rangeOf } from '../../src/counters/ranges.ts'

/** Counters whose keys begin with a text, of the ranges that are wanted: of the first one by default. */
export async function countersInRange(
  prefix: string,
  count: number,
  ranges: number,
  isWanted: (range: number) => boolean = (range) => range === 0,
): Promise<CounterAddress[]> {
  const counters: CounterAddress[] = []
  for (let n = 0; counters.length < count; n++) {
    const counter = await addressOfKey({ recordType: 1 }, `${prefix}${n}`)
    if (isWanted(rangeOf(counter.recordId, ranges))) counters.push(counter)
  }
  return counters
}

/** Keys that begin with a text, one in each range, in the order of ranges. */
export async function keyOfEachRange(prefix: string, ranges: number = inject('ranges')): Promise<string[]> {
  const each = Array.from({ length: ranges }, (_, of) => countersInRange(prefix, 1, ranges, (range) => range === of))
  return (await Promise.all(each)).map(([counter]) => counter!.name)
}

/** In how many ranges the counters of these keys are. A request waits once in each of them. */
export async function rangesOfKeys(keys: readonly string[], ranges: number): Promise<number> {
  const addresses = await Promise.all(keys.map((key) => addressOfKey({ recordType: 1 }, key)))
  return new Set(addresses.map(({ recordId }) => rangeOf(recordId, ranges))).size
}
