/** A control character, or a backslash, which browsers take for a slash. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const FORBIDDEN = /[\u0000-\u001f\u007f\\]/

/**
 * Where a download is: the key below its type's base, and nowhere else. A key is a path of one segment or more; what
 * could lead out of the base, or to another host, is no key: empty segments (`//host`; the last one may be, as a folder's
 * is), dots (`..`), backslashes and control characters, however they were encoded.
 *
 * @param base a URL, or a path on this host, that ends in a slash
 * @param key decoded
 * @returns a URL, or a path on this host; `null` if the key is not such a path
 */
export function destinationOf(base: string, key: string): string | null {
  if (FORBIDDEN.test(key) || !key.isWellFormed()) return null
  const segments = key.split('/')
  const folder = segments.length > 1 && segments.at(-1) === ''
  const names = folder ? segments.slice(0, -1) : segments
  if (names.some((name) => name === '' || name === '.' || name === '..')) return null
  return base + segments.map(encodeURIComponent).join('/')
}
