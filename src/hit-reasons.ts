/** Why a visit does not count, by what follows `ignored; reason=` in `X-Hit`. Codes of problems follow it too. */
export const HIT_REASONS = {
  type: {
    cause: 'The type is not configured.',
    advice: 'Correct the name, or add the type to COUNTERS, and deploy or restart.',
  },
  readings: {
    cause: 'The type accepts readings only.',
    advice: 'Count in another type, or remove readings from the type.',
  },
  origin: {
    cause: 'SITES, or the type’s own allowed_origins, does not list the page’s origin; or an image request sends none.',
    advice:
      'Add it to SITES or the type’s allowed_origins, and deploy or restart. Images need referrerpolicy="origin".',
  },
  own: {
    cause: 'The visit is your own.',
    advice: 'Count this browser again in the dashboard’s menu, or remove the network from EXCLUDE.networks.',
  },
  automated: {
    cause: 'A program controls the browser.',
    advice: 'Open the page yourself, or set count_automated for the type.',
  },
  prefetch: {
    cause: 'The browser prefetches, prerenders or previews the page.',
    advice: 'Nothing to do: the page counts when somebody sees it.',
  },
  dnt: {
    cause: 'The browser sends Do Not Track or Global Privacy Control, and the type has respect_do_not_track.',
    advice: 'Use another browser, or remove respect_do_not_track.',
  },
  bot: {
    cause: 'The user agent belongs to a bot.',
    advice: 'Use a browser. To count bots, set count_bots or bots for the type.',
  },
  rate: { cause: 'The network exceeds the rate limit.', advice: 'Wait a minute, or raise the limit of VISITOR_LIMIT.' },
  key: {
    cause: 'The counter does not exist, and new_keys or a limit forbids creating it.',
    advice: 'Check the type’s new_keys. If a limit was reached, try again in a minute.',
  },
  duplicate: {
    cause: 'The visitor was already counted in this window.',
    advice: 'Nothing to do: the visitor counts again after dedupe_seconds.',
  },
  head: { cause: 'It was a HEAD request.', advice: 'Send a GET request.' },
  range: {
    cause: 'The request asked for a later part of the file, or only for its first bytes.',
    advice: 'Nothing to do: the request for the file, or for its first part, counts.',
  },
  embedded: {
    cause: 'A page embeds the file, as an image or in a player.',
    advice: 'Link to the file: a download counts when somebody follows the link.',
  },
} as const

export type HitReason = keyof typeof HIT_REASONS

/** The value of `X-Hit` for a request that is not counted. */
export function ignoredBecause(reason: HitReason): string {
  return `ignored; reason=${reason}`
}
