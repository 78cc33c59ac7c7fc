const encoder = new TextEncoder()

/**
 * The 64-bit hash that identifies a text in the database: the first 8 bytes of its SHA-256, because strangers must not find two keys
 * for one counter. Among a hundred million keys, a collision has a chance of 1 in 3,700 (birthday bound, n² / 2⁶⁵).
 */
export async function hash64(text: string): Promise<bigint> {
  const digest = await crypto.subtle.digest('SHA-256', encoder.encode(text))
  return new DataView(digest).getBigUint64(0)
}

/** The same in 63 bits, for slots and batch ids: see `random63`. */
export async function hash63(text: string): Promise<bigint> {
  return BigInt.asUintN(63, await hash64(text))
}

/** A random 63-bit number, never 0 (no batch): vtgate binds no literals of 2^63 and above (Vitess `sqlparser/normalizer.go`). */
export function random63(): bigint {
  const number = BigInt.asUintN(63, crypto.getRandomValues(new BigUint64Array(1))[0]!)
  return number === 0n ? random63() : number
}

/** The version of a new row of `counters`: random, as those of deleted rows must not recur; 62 bits, to stay below 2^63 (`random63`). */
export function newVersion(): bigint {
  return BigInt.asUintN(62, random63())
}
