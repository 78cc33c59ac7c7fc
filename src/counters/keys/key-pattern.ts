/**
 * Whether a key matches a pattern. `*` stands for any characters, also for none and for slashes; everything else for itself.
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
