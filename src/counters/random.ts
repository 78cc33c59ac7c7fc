/** A random 64-bit number, never 0: 0 marks a slot that no batch has been applied to. */
export function random64(): bigint {
  const number = crypto.getRandomValues(new BigUint64Array(1))[0]!
  return number === 0n ? random64() : number
}
