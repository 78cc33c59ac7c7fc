/** Why a visit is not counted: what follows `ignored; reason=` in `X-Hit`, unless it is the `code` of a problem. */
export const HIT_REASONS = {
  type: 'its type is not configured',
  head: 'it was a HEAD request',
  range: 'it did not ask for the start of the file',
  embedded: 'a page loaded the file as an image, script, style, font or frame',
  origin: 'its origin is not in allowed_origins',
  own: 'it came from your own network, or from a browser that you excluded',
  automated: 'a program drives its browser',
  prefetch: 'its browser loaded the page in advance',
  dnt: 'its browser asks not to be tracked',
  bot: 'its user agent is a bot’s',
  rate: 'its network sends too many requests',
  key: 'new_keys or a limit forbids creating its counter',
  duplicate: 'the same visitor has already counted in this window',
} as const

export type HitReason = keyof typeof HIT_REASONS

/** The value of `X-Hit` for a visit that is not counted. */
export function ignoredBecause(reason: HitReason): string {
  return `ignored; reason=${reason}`
}
