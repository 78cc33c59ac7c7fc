import { inject } from 'vitest'
import { addressOfKey } from '../../src/counters/keys/counter-address.ts'
import { rangeOf } from '../../src/counters/ranges.ts'

/** Keys that begin with a text, one in each range, in the order of ranges. */
export async function keyOfEachRange(prefix: string, ranges: number = inject('ranges')): Promise<string[]> {
  const keys = new Map<number, string>()
  for (let n = 0; keys.size < ranges; n++) {
    const { recordId } = await addressOfKey({ recordType: 1 }, `${prefix}${n}`)
    const range = rangeOf(recordId, ranges)
    if (!keys.has(range)) keys.set(range, `${prefix}${n}`)
  }
  return Array.from({ length: ranges }, (_, range) => keys.get(range)!)
}
