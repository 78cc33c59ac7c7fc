/**
 * A random 63-bit number, never 0: 0 marks a slot that no batch has been applied to. Not 64 bits, because vtgate does not turn
 * literals of 2^63 and above into bind variables (Vitess `sqlparser/normalizer.go`), and plans every such statement again.
 */
export function random63(): bigint {
  const number = BigInt.asUintN(63, crypto.getRandomValues(new BigUint64Array(1))[0]!)
  return number === 0n ? random63() : number
}
