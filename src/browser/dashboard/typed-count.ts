/** Of a 64-bit number. */
const MAX_DIGITS = 19
/** Copied numbers may contain marks of the writing direction. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f]/g

/**
 * Reads a whole number: digits alone, or with separators where the page writes them. Anything else is `null`, because "1.5"
 * is fifteen in no language.
 * @param locales as of `Intl.NumberFormat`; default: the browser's
 */
export function readTypedCount(text: string, locales?: Intl.LocalesArgument): bigint | null {
  const typed = plain(text, locales)
  const digits = typed.replaceAll(/[^\d]/g, '')
  if (digits === '' || digits.length > MAX_DIGITS) return null
  const count = BigInt(typed.startsWith('-') ? `-${digits}` : digits)
  if (/^-?\d+$/.test(typed)) return count
  // Some languages write four digits without a separator, but readers of others type it.
  const written = (['auto', 'always'] as const).map((useGrouping) => {
    const format = new Intl.NumberFormat(locales, { useGrouping } as Intl.NumberFormatOptions)
    return plain(format.format(count), locales)
  })
  return written.includes(typed) ? count : null
}

/** Text in the digits 0 to 9, and with one kind of minus, space and apostrophe. */
function plain(text: string, locales: Intl.LocalesArgument): string {
  const own = [...new Intl.NumberFormat(locales, { useGrouping: false }).format(9_876_543_210)].reverse()
  return text
    .replaceAll(DIRECTION_MARKS, '')
    .replaceAll(/\p{Nd}/gu, (digit) => (own.includes(digit) ? String(own.indexOf(digit)) : digit))
    .replaceAll(/[\u2010\u2212]/g, '-')
    .replaceAll(/[’ʼ]/g, "'")
    .replaceAll(/\s+/g, ' ')
    .trim()
}
