/**
 * Formats a count for a badge: all digits in groups of three, or compact ("1.2k", "3.4M"). Compact counts are truncated,
 * not rounded, so a badge never says 1M before the count reaches a million.
 */
export function showCount(count: bigint, { compact }: { compact: boolean }): string {
  if (!compact) return new Intl.NumberFormat('en').format(count)
  const format = { notation: 'compact', maximumFractionDigits: 1, roundingMode: 'trunc' } as const
  // The SI prefix for a thousand is a lower-case k; Intl writes a capital K.
  return new Intl.NumberFormat('en', format).format(count).replace('K', 'k')
}
