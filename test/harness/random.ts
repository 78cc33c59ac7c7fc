/**
 * Whole numbers from 0 to below a bound, the same ones for the same seed (a linear congruential generator, Numerical Recipes).
 */
export function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
