/**
 * Formats a count for a badge: all digits in groups of three, or compact ("1.2k", "3.4M"). Compact counts are truncated,
 * not rounded, so a badge never says 1M before the count reaches a million.
 */
export function showCount(count: bigint, { compact }: { compact: boolean }): string {
  if (!compact) return new Intl.NumberFormat('en').format(count)
  const short = new Intl.NumberFormat('en', {
    notation: 'compact',
    maximumFractionDigits: 1,
    roundingMode: 'trunc',
  }).format(count)
  // The SI prefix for a thousand is a lower-case k; Intl writes a capital K.
  return short.replace('K', 'k')
}
