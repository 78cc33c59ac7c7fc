/** A badge's color: one of the names below, or 3 or 6 hexadecimal digits. */
export type BadgeColor = string

// The names that shields.io gives its colors (https://shields.io/badges), so that a badge can move from there to here, and
// some that CSS has too. The shades are our own: far apart, and as they are easy to read on. A null prototype, because
// "constructor" is no color.
const NAMED: Record<string, string> = Object.assign(Object.create(null), {
  brightgreen: '8ae65c',
  green: '3f8f1a',
  yellowgreen: '6f7a12',
  yellow: 'f2d024',
  orange: 'ffb13b',
  red: 'c93a3a',
  blue: '006fb0',
  purple: '8a3fd1',
  pink: 'c93a7c',
  cyan: '0f7f8f',
  grey: '555555',
  gray: '555555',
  lightgrey: 'd0d0d0',
  lightgray: 'd0d0d0',
  black: '1f1f1f',
  success: '8ae65c',
  informational: '006fb0',
  important: 'ffb13b',
  critical: 'c93a3a',
  inactive: 'd0d0d0',
})

/** What to tell somebody who named a color that is none. */
export const COLOR_RULE = 'must be a color name such as "blue", or 3 or 6 hexadecimal digits'

/** White text must stand out this much (WCAG 2.2, 1.4.3 asks for 4.5); some more, because "flat" lays a sheen over it. */
const CONTRAST = 5
/** The drawing library writes in white up to this brightness, and in black above it. */
const WHITE_TEXT_UP_TO = 0.69

/**
 * Reads a color as people write it: a name or hexadecimal digits, with or without "#", in any case.
 *
 * @returns the name or the digits, in lower case; `undefined` if it is no color
 */
export function parseColor(text: string): BadgeColor | undefined {
  const name = text.toLowerCase()
  if (NAMED[name] !== undefined) return name
  return /^#?([\da-f]{3}|[\da-f]{6})$/.exec(name)?.[1]
}

/**
 * The color to paint with. One on which white text would be hard to read is darkened until it is not; the hue stays.
 *
 * @param color as `parseColor` returned it
 * @returns six hexadecimal digits
 */
export function paintOf(color: BadgeColor): string {
  const digits = NAMED[color] ?? (color.length === 3 ? color.replace(/./g, '$&$&') : color)
  let rgb = [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16))
  if (brightness(rgb) <= WHITE_TEXT_UP_TO) {
    while (1.05 / (luminance(rgb) + 0.05) < CONTRAST) rgb = rgb.map((channel) => Math.floor(channel * 0.97))
  }
  return rgb.map((channel) => channel.toString(16).padStart(2, '0')).join('')
}

/** As the drawing library weighs it (https://www.w3.org/TR/AERT/#color-contrast), from 0 to 1. */
function brightness([red = 0, green = 0, blue = 0]: number[]): number {
  return (red * 299 + green * 587 + blue * 114) / 255_000
}

/** Relative luminance, from 0 to 1 (https://www.w3.org/TR/WCAG22/#dfn-relative-luminance). */
function luminance(rgb: number[]): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
