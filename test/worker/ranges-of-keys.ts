import { addressOfKey } from '../../src/counters/keys/counter-address.ts'
import { rangeOf } from '../../src/counters/ranges.ts'

/** In how many ranges the counters of these keys are. A request waits once in each of them. */
export async function rangesOfKeys(keys: readonly string[], ranges: number): Promise<number> {
  const addresses = await Promise.all(keys.map((key) => addressOfKey({ recordType: 1 }, key)))
  return new Set(addresses.map(({ recordId }) => rangeOf(recordId, ranges))).size
}
