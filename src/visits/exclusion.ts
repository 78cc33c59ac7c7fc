import type { Bots, Purpose } from './bots.ts'
import { exceedsLimit, type RateLimit } from './rate-limit.ts'

/**
 * Headers in which browsers say that nobody is looking at the page yet: https://wicg.github.io/nav-speculation/prerendering.html
 * (Sec-Purpose), and what Chrome, Safari (Purpose, X-Purpose) and Firefox (X-Moz) sent before it.
 */
const PURPOSE_HEADERS = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz']
const PURPOSES = /\b(?:prefetch|prerender|preview)\b/i

/** A type's rules for visits. */
export interface VisitRules {
  /** Whether automatic clients count, too. */
  countBots: boolean
  /** Whether browsers count that a program drives, and that say so (`navigator.webdriver`). */
  countAutomated: boolean
  /** Whether to leave out visitors whose browser asks not to be tracked (DNT, Global Privacy Control). */
  respectDoNotTrack: boolean
}

/** Why a visit does not count. */
export type Exclusion = 'prefetch' | 'dnt' | 'bot' | 'rate'

/** What the decision depends on besides the request and the type. */
export interface ExclusionContext {
  bots: Bots
  rateLimit: RateLimit | null
  /** What the visit is for. Default: a page. */
  purpose?: Purpose
}

/**
 * Decides whether a request counts as a visit.
 *
 * @returns why it does not, or `null` if it counts; a promise only if the rate limit has to be asked
 */
export function exclusionOf(
  headers: Headers,
  rules: VisitRules,
  { bots, rateLimit, purpose }: ExclusionContext,
): Exclusion | null | Promise<Exclusion | null> {
  for (const name of PURPOSE_HEADERS) if (PURPOSES.test(headers.get(name) ?? '')) return 'prefetch'
  if (rules.respectDoNotTrack && (headers.get('DNT') === '1' || headers.get('Sec-GPC') === '1')) return 'dnt'
  if (!rules.countBots && bots.has(headers.get('User-Agent') ?? '', purpose)) return 'bot'
  // Checked before the header is read, because reading one costs time on the hot path.
  if (rateLimit === null) return null
  return exceedsLimit(rateLimit, headers.get('CF-Connecting-IP')).then((exceeded) => (exceeded ? 'rate' : null))
}
