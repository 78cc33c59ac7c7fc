/** Characters of the longest header that is read. Download managers ask for a few ranges of about 20 characters. */
const MAX_LENGTH = 500

/**
 * Whether a request asks only for parts of a file without its start, or for one or two bytes, with which players ask for its length. A
 * malformed or overlong header, or another unit than bytes, is ignored (RFC 9110, section 14.2). @param header the value of `Range`
 */
export function asksForPart(header = ''): boolean {
  const [, list] = (header.length <= MAX_LENGTH && /^\s*bytes\s*=(.*)$/is.exec(header)) || []
  // Without a first position, a range is that many bytes at the end of the file.
  const ranges = list?.split(',').map((range) => /^\s*(?=.*\d)(\d*)\s*-\s*(\d*)\s*$/.exec(range))
  return ranges?.every((range) => range !== null && (!/^0+$/.test(range[1]!) || /^0*[01]$/.test(range[2]!))) ?? false
}

/** Control characters, and the backslash, which browsers treat as a slash. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it searches for
const FORBIDDEN = /[\u0000-\u001f\u007f\\]/

/** Where the key stands in a `redirect_to` that goes on after it. */
export const KEY_PLACE = '{key}'

/**
 * The address of a download: its key, a path, below the base of its type. A key that could lead elsewhere, however encoded, is refused:
 * empty segments except the last one (a folder), `.` and `..`, backslashes, control characters.
 * @param base a URL, or a path on this host, that ends in a slash or has `{key}` after one @returns `null` if the key is refused
 */
export function destinationOf(base: string, key: string): string | null {
  if (FORBIDDEN.test(key) || !key.isWellFormed()) return null
  const segments = key.split('/')
  const folder = segments.length > 1 && segments.at(-1) === ''
  const names = folder ? segments.slice(0, -1) : segments
  if (names.some((name) => name === '' || name === '.' || name === '..')) return null
  const path = segments.map(encodeURIComponent).join('/')
  return base.includes(KEY_PLACE) ? base.replace(KEY_PLACE, () => path) : base + path
}
