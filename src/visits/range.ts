/**
 * Whether a request asks for a part of a file that begins somewhere else than at its beginning: a download that goes on,
 * or another part of one that was split. What is not a byte range, or not well-formed, is no range (RFC 9110, section 14.2).
 *
 * @param header the value of `Range`
 */
export function startsElsewhere(header: string | undefined): boolean {
  const ranges = /^\s*bytes\s*=\s*(.+)$/i.exec(header ?? '')?.[1]
  if (ranges === undefined) return false
  let first = false
  for (const range of ranges.split(',')) {
    const [, from, to] = /^\s*(\d*)\s*-\s*(\d*)\s*$/.exec(range) ?? []
    if (from === undefined || to === undefined || (from === '' && to === '')) return false
    // Without a beginning it is that many bytes from the end.
    first ||= from !== '' && /^0+$/.test(from)
  }
  return !first
}
