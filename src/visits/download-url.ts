/** Control characters, and the backslash, which browsers treat as a slash. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it searches for
const FORBIDDEN = /[\u0000-\u001f\u007f\\]/

/**
 * The address of a download: its key, below the base of its type. The key is a path of one or more segments. It is refused if it
 * could lead out of the base or to another host, however it was encoded. These are refused:
 *
 * - empty segments (`//host`), except for the last one, which is empty for a folder;
 * - dot segments (`.` and `..`);
 * - backslashes or control characters.
 *
 * @param base a URL, or a path on this host, that ends in a slash
 * @param key the decoded key
 * @returns a URL, or a path on this host; `null` if the key is refused
 */
export function destinationOf(base: string, key: string): string | null {
  if (FORBIDDEN.test(key) || !key.isWellFormed()) return null
  const segments = key.split('/')
  const folder = segments.length > 1 && segments.at(-1) === ''
  const names = folder ? segments.slice(0, -1) : segments
  if (names.some((name) => name === '' || name === '.' || name === '..')) return null
  return base + segments.map(encodeURIComponent).join('/')
}
