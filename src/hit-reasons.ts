/** Why a visit is not counted: what follows `ignored; reason=` in `X-Hit`. A problem's `code` may stand there too. */
export const HIT_REASONS = {
  type: 'there is no such type',
  head: 'it is a HEAD request',
  range: 'it asks for a part of the file that does not include its start',
  embedded: 'a page loaded the file as an image, script, style, font or frame',
  origin: 'the origin of its page is not in allowed_origins',
  own: 'it comes from your own network, or from a browser that you excluded',
  automated: 'a program drives the browser',
  prefetch: 'the browser loaded the page in advance',
  dnt: 'the browser asks not to be tracked',
  bot: 'the client says that it is a bot',
  rate: 'its network sends too many',
  key: 'new_keys or its budget does not allow the new key',
  duplicate: 'the same visitor was counted before in this window',
} as const

export type HitReason = keyof typeof HIT_REASONS

/** The value of `X-Hit` for a visit that is not counted. */
export function ignoredBecause(reason: HitReason): string {
  return `ignored; reason=${reason}`
}
