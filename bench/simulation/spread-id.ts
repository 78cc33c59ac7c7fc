// Multiplicative hashing: D. Knuth, "The Art of Computer Programming", volume 3, section 6.4. The factor is 2^64 divided by the
// golden ratio, made odd, which spreads consecutive numbers as evenly as possible. An odd factor can be undone modulo 2^64.
const FACTOR = 0x9e3779b97f4a7c15n
const INVERSE = 0xf1de83e19937733dn

/** The record id of a number in the simulation: spread like the hash of a key, but quick to make and to undo. */
export function recordIdOf(number: bigint): bigint {
  return BigInt.asUintN(64, number * FACTOR)
}

/** The number that a record id stands for. */
export function numberOf(recordId: bigint): bigint {
  return BigInt.asUintN(64, recordId * INVERSE)
}
