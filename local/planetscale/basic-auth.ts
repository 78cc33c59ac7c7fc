import { createHash, timingSafeEqual } from 'node:crypto'

/**
 * Returns the user name of an `Authorization: Basic …` header; `null` if the header is malformed or the password is wrong.
 *
 * The driver sends user and password as they are in the URL, percent-encoded. If they do not come from a URL, it sends them
 * unchanged, so both forms of the password are accepted.
 */
export function authenticatedUser(authorization: string | undefined, password: string): string | null {
  const [scheme, credentials = ''] = (authorization ?? '').split(' ')
  const decoded = Buffer.from(credentials, 'base64')
  // Node skips characters that are not base64; PlanetScale refuses them.
  if (scheme?.toLowerCase() !== 'basic' || decoded.toString('base64') !== credentials) return null
  const text = decoded.toString()
  const colon = text.indexOf(':')
  const given = text.slice(colon + 1)
  if (colon < 1 || !(isEqual(given, password) || isEqual(decodePercent(given), password))) return null
  return decodePercent(text.slice(0, colon))
}

/** Compares two texts in constant time. */
function isEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
