// Multiplicative hashing: D. Knuth, "The Art of Computer Programming", volume 3, section 6.4. The factor is 2^64 divided by the
// golden ratio, made odd, which spreads consecutive numbers as evenly as possible. An odd factor can be undone modulo 2^64.
const FACTOR = 0x9e3779b97f4a7c15n
const INVERSE = 0xf1de83e19937733dn

/**
 * Integer types are stored under their configured record type plus this number. Rows without it are from before their numbers
 * were mixed: `npm run migrate` moves them (migrations/0010).
 */
export const MIXED_TYPES = 32_768

/** The record id of an integer key. Mixed, so that 1, 2, 3 and so on spread over all ranges as hashes do. */
export function recordIdOf(number: bigint): bigint {
  return BigInt.asUintN(64, number * FACTOR)
}

/** The integer key of a record id. */
export function numberOf(recordId: bigint): bigint {
  return BigInt.asUintN(64, recordId * INVERSE)
}
