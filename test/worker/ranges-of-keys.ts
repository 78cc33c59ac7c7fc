import { addressOfKey } from '../../src/counters/keys/counter-address.ts'
import { rangeOf } from '../../src/counters/ranges.ts'

/** Keys with a beginning whose counters are in the first range. */
export async function keysOfOneRange(prefix: string, count: number, ranges: number): Promise<string[]> {
  const keys: string[] = []
  for (let i = 0; keys.length < count; i++) {
    const { recordId, name } = await addressOfKey({ recordType: 1 }, `${prefix}${i}`)
    if (rangeOf(recordId, ranges) === 0) keys.push(name)
  }
  return keys
}

/** In how many ranges the counters of these keys are. A request waits once in each of them. */
export async function rangesOfKeys(keys: readonly string[], ranges: number): Promise<number> {
  const addresses = await Promise.all(keys.map((key) => addressOfKey({ recordType: 1 }, key)))
  return new Set(addresses.map(({ recordId }) => rangeOf(recordId, ranges))).size
}
