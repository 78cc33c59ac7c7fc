import { badgen } from 'badgen'
import { type BadgeColor, paintOf } from './badge-color.ts'

/** How badges can look, by the names that shields.io made known. */
export const BADGE_STYLES = ['flat', 'flat-square', 'for-the-badge'] as const

/** What a badge shows. */
export interface Badge {
  /** The left half; empty: there is none. Text that `isBadgeText` takes, like the message. */
  label: string
  message: string
  color: BadgeColor
  labelColor: BadgeColor
  style: (typeof BADGE_STYLES)[number]
}

/** Longest label, in characters. */
export const MAX_LABEL = 80

/**
 * Whether text can stand on a badge: not too long, and without what XML 1.0 has no way to write (control characters, lone
 * surrogates, U+FFFE and U+FFFF: https://www.w3.org/TR/xml/#charsets).
 */
export function isBadgeText(text: string): boolean {
  return [...text].length <= MAX_LABEL && !/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u.test(text)
}

/**
 * Draws a badge. It brings its own background and fits its text's color to it, so that it reads on dark and on light pages.
 *
 * @returns an SVG document; the ids in it are random, so no two are the same, byte for byte
 */
export function drawBadge({ label, message, color, labelColor, style }: Badge): string {
  const loud = style === 'for-the-badge'
  return badgen({
    label: loud ? label.toUpperCase() : label,
    status: loud ? message.toUpperCase() : message,
    // The library takes names of its own as well, of which the types know; digits are always digits to it.
    color: paintOf(color) as 'blue',
    labelColor: paintOf(labelColor) as 'blue',
    style: style === 'flat' ? 'classic' : 'flat',
    scale: loud ? 1.4 : 1,
  })
}
