import { badgen } from 'badgen'
import { type BadgeColor, paintOf } from './color.ts'

/** Badge styles, by the names that shields.io uses. */
export const BADGE_STYLES = ['flat', 'flat-square', 'for-the-badge'] as const

/** What a badge shows. */
export interface Badge {
  /** The left half; left out if empty. Like the message, it must satisfy `isBadgeText`. */
  label: string
  message: string
  color: BadgeColor
  labelColor: BadgeColor
  style: (typeof BADGE_STYLES)[number]
}

/** The maximum length of a label, in characters. */
export const MAX_LABEL = 80

/**
 * Whether text fits on a badge: it is not too long, and has no characters that XML 1.0 cannot represent (control characters, lone
 * surrogates, U+FFFE and U+FFFF: https://www.w3.org/TR/xml/#charsets).
 */
export function isBadgeText(text: string): boolean {
  return [...text].length <= MAX_LABEL && !/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u.test(text)
}

/**
 * Draws a badge. It has its own background and a matching text color, so it is readable on dark and on light pages.
 *
 * @returns an SVG document with random ids, so no two documents are identical
 */
export function drawBadge({ label, message, color, labelColor, style }: Badge): string {
  const loud = style === 'for-the-badge'
  return badgen({
    label: loud ? label.toUpperCase() : label,
    status: loud ? message.toUpperCase() : message,
    // The type allows the library's color names only, but the library accepts hexadecimal digits too.
    color: paintOf(color) as 'blue',
    labelColor: paintOf(labelColor) as 'blue',
    style: style === 'flat' ? 'classic' : 'flat',
    scale: loud ? 1.4 : 1,
  })
}
