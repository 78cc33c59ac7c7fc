/** The key of a load with a single key. */
export const HOT_KEY = '/blog/hello'

/** The keys that wrk-load.lua sends. */
export function keysOf(number: number): string[] {
  return number === 1 ? [HOT_KEY] : Array.from({ length: number }, (_, index) => `/page/${index + 1}`)
}
