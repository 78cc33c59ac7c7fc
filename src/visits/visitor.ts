/** Who sent a request, as far as its headers tell. */
export interface Visitor {
  /** Cloudflare sets it (`CF-Connecting-IP`), whatever the client sends. Without it, visitors cannot be told apart. */
  address: string | null
  agent: string
  /** Whether its browser is marked as the owner's. */
  marked: boolean
  headers: Headers
}

/**
 * Headers in which browsers say that nobody is looking at the page yet: https://wicg.github.io/nav-speculation/prerendering.html
 * (Sec-Purpose), and what Chrome, Safari (Purpose, X-Purpose) and Firefox (X-Moz) sent before it.
 */
const PURPOSE_HEADERS = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz']
const IN_ADVANCE = /\b(?:prefetch|prerender|preview)\b/i

/** Whether a browser loads a page in advance. */
export function isInAdvance(headers: Headers): boolean {
  for (const name of PURPOSE_HEADERS) if (IN_ADVANCE.test(headers.get(name) ?? '')) return true
  return false
}

/** Whether a browser asks not to be tracked (DNT, Global Privacy Control). */
export function asksNotToBeTracked(headers: Headers): boolean {
  return headers.get('DNT') === '1' || headers.get('Sec-GPC') === '1'
}

/** The origin or the URL of the page that sent a request. */
export function pageOf(headers: Headers): string | null {
  return headers.get('Origin') ?? headers.get('Referer')
}
