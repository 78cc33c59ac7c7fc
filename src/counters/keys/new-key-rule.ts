/** The most patterns of a type, and characters of a pattern. */
export const MAX_PATTERNS = 100
export const MAX_PATTERN_LENGTH = 512

/** Which keys public requests may bring into being. Counters that exist, and requests with a token, are not concerned. */
export interface NewKeyRule {
  /** `any`, those that match a pattern, or none: only `known` keys count. */
  newKeys: 'any' | 'known' | readonly string[]
  /** How many in a minute; `null`: any number. */
  newKeysPerMinute: number | null
}

/** Whether a rule lets everything in, so that nothing has to be checked. */
export function admitsEverything({ newKeys, newKeysPerMinute }: NewKeyRule): boolean {
  return newKeys === 'any' && newKeysPerMinute === null
}

/** Whether a key may come into being, as long as there is a budget for it. */
export function mayBeNew({ newKeys }: NewKeyRule, key: string): boolean {
  if (typeof newKeys === 'string') return newKeys === 'any'
  return newKeys.some((pattern) => matchesPattern(pattern, key))
}

/**
 * Whether a key matches a pattern. `*` matches any text, also empty text and slashes. Everything else matches itself.
 * Not a regular expression: no pattern can take long.
 */
export function matchesPattern(pattern: string, key: string): boolean {
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return key === pattern
  const end = key.length - tail.length
  if (end < head.length || !key.startsWith(head) || !key.endsWith(tail)) return false
  // The first place where a part fits leaves the most for the parts behind it.
  let from = head.length
  for (const part of rest) {
    const at = key.indexOf(part, from)
    if (at === -1 || at + part.length > end) return false
    from = at + part.length
  }
  return true
}
