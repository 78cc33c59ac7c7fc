/**
 * Whether a request asks only for parts of a file that do not include its start: a download that is resumed, or a later part of
 * one that was split. A malformed header, or another unit than bytes, is ignored (RFC 9110, section 14.2).
 *
 * @param header the value of `Range`
 */
export function skipsStart(header: string | undefined): boolean {
  const ranges = /^\s*bytes\s*=\s*(.+)$/i.exec(header ?? '')?.[1]
  if (ranges === undefined) return false
  let includesStart = false
  for (const range of ranges.split(',')) {
    const [, from, to] = /^\s*(\d*)\s*-\s*(\d*)\s*$/.exec(range) ?? []
    if (from === undefined || to === undefined || (from === '' && to === '')) return false
    // Without a first position, the range is that many bytes at the end of the file.
    includesStart ||= from !== '' && /^0+$/.test(from)
  }
  return !includesStart
}
