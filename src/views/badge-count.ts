/**
 * A count as a badge shows it: all digits in groups of three, or short ("1.2k", "3.4M"). Short ones are cut off, not
 * rounded: a badge does not say 1M before there are a million.
 */
export function showCount(count: bigint, { compact }: { compact: boolean }): string {
  if (!compact) return new Intl.NumberFormat('en').format(count)
  const short = new Intl.NumberFormat('en', {
    notation: 'compact',
    maximumFractionDigits: 1,
    roundingMode: 'trunc',
  }).format(count)
  // The SI prefix for a thousand is a small letter; English abbreviations have a capital one.
  return short.replace('K', 'k')
}
