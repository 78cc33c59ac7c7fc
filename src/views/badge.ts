import { html } from 'hono/html'
import type { Problem } from '../service/problem.ts'

/** Badge styles, by the names that shields.io uses. */
export const BADGE_STYLES = ['flat', 'flat-square', 'for-the-badge'] as const

export interface Badge {
  /** The left half; omitted if empty. Like the message, it must satisfy `isBadgeText`. */
  label: string
  message: string
  color: BadgeColor
  labelColor: BadgeColor
  style: (typeof BADGE_STYLES)[number]
}

/** The maximum length of a label, in characters. */
export const MAX_LABEL = 80

/** Whether text is short enough for a badge, and XML 1.0 has its characters (https://www.w3.org/TR/xml/#charsets). */
export function isBadgeText(text: string): boolean {
  return [...text].length <= MAX_LABEL && !/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u.test(text)
}

/** Widths of characters in Verdana at 110 px, to the nearest 4 px. */
const WIDTHS = new Map(
  Object.entries({
    32: "'il",
    40: ' ,.fj',
    44: '!t',
    48: 'Ir',
    52: '"()-/:;J[\\]|',
    56: 'cs',
    60: '?Lz',
    64: 'Fkvxy',
    68: 'PTYabdegopq',
    72: '$*0123456789E_`hnu{}',
    76: 'ABCKRSVXZ',
    80: '&U',
    84: 'DGHN',
    88: 'OQ',
    92: '#+<=>M^w~',
    112: '@Wm',
    120: '%',
  }).flatMap(([width, characters]) => [...characters].map((character) => [character, Number(width)] as const)),
)
/** Widths of other characters: of letters such as Greek and Cyrillic, and of what is as wide as it is high. */
const LETTER_WIDTH = 72
const WIDE_WIDTH = 112
const FIRST_WIDE = 0x2000
/** Space on both sides of a text. */
const PADDING = 50

/** A text of a badge, at a place. All lengths are tenths of a pixel. */
interface Half {
  text: string
  x: number
  width: number
  /** Six hexadecimal digits. */
  paint: string
}

/**
 * Draws a badge like those of shields.io. It has its own background and a matching text color, so it is readable on dark and on
 * light pages.
 * @returns an SVG document, the same for the same badge
 */
export function drawBadge({ label, message, color, labelColor, style }: Badge): string {
  const loud = style === 'for-the-badge'
  const said = (text: string) => (loud ? text.toUpperCase() : text)
  const texts = [...(label === '' ? [] : [[label, labelColor] as const]), [message, color] as const]
  const halves: Half[] = []
  let width = 0
  for (const [text, painted] of texts) {
    halves.push({ text: said(text), x: width, width: widthOf(said(text)) + 2 * PADDING, paint: paintOf(painted) })
    width += halves.at(-1)!.width
  }
  const name = halves.map(({ text }) => text).join(': ')
  const scale = loud ? 1.4 : 1
  const rects = halves.map(
    ({ x, width, paint }) => html`<rect x="${x}" width="${width}" height="200" fill="#${paint}"/>`,
  )
  // The same id for the same shape, because a page may have several badges in its own document.
  const shape = `badge-${width}`
  const background =
    style === 'flat'
      ? html`<linearGradient id="badge" x2="0" y2="100%"><stop offset="0" stop-opacity=".1" stop-color="#eee"/><stop offset="1" stop-opacity=".1"/></linearGradient>
<mask id="${shape}"><rect width="${width}" height="200" rx="30" fill="#fff"/></mask>
<g mask="url(#${shape})">${rects}<rect width="${width}" height="200" fill="url(#badge)"/></g>`
      : html`<g>${rects}</g>`
  return String(html`<svg xmlns="http://www.w3.org/2000/svg" width="${round((width / 10) * scale)}" height="${20 * scale}" viewBox="0 0 ${width} 200" role="img" aria-label="${name}">
<title>${name}</title>
${background}
<g aria-hidden="true" font-family="Verdana,DejaVu Sans,sans-serif" font-size="110">${halves.map(drawText)}</g>
</svg>`)
}

function drawText({ text, x, width, paint }: Half) {
  // The widths are Verdana's. Other fonts, and other scripts, take the room that they get.
  const length = [...text].every((character) => WIDTHS.has(character)) ? width - 2 * PADDING : undefined
  const fitted = length === undefined ? '' : html` textLength="${length}"`
  const [ink, shadow, opacity] = hasWhiteText(paint) ? ['#fff', '#000', 0.25] : ['#000', '#fff', 0.1]
  return html`<text x="${x + PADDING + 10}" y="148"${fitted} fill="${shadow}" opacity="${opacity}">${text}</text>
<text x="${x + PADDING}" y="138"${fitted} fill="${ink}">${text}</text>
`
}

function widthOf(text: string): number {
  let width = 0
  for (const character of text.normalize()) {
    width += WIDTHS.get(character) ?? (character.codePointAt(0)! < FIRST_WIDE ? LETTER_WIDTH : WIDE_WIDTH)
  }
  return width
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}

/** Makes an image harmless when opened as a page, and lets every page embed it. */
export const SVG_HEADERS = {
  'Content-Type': 'image/svg+xml; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

/** A badge's color: one of the names below, or 3 or 6 hexadecimal digits. */
export type BadgeColor = string

// The color names of shields.io (https://shields.io/badges), so that badges can move here unchanged, and some of CSS. Our
// own shades are easy to tell apart and to read text on. The prototype is null because "constructor" is not a color.
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

export const COLOR_NAMES = Object.keys(NAMED)

export const COLOR_RULE = 'must be a color name such as "blue", or 3 or 6 hexadecimal digits'

/** Minimum contrast of white text. WCAG 2.2, 1.4.3 asks for 4.5; the style "flat" needs more, because it adds a sheen. */
const CONTRAST = 5
/** White text up to this brightness, and black text above it. */
const WHITE_TEXT_UP_TO = 0.69

/** Parses a name, or hexadecimal digits with or without "#", into lower case; `undefined` if the text is not a color. */
export function parseColor(text: string): BadgeColor | undefined {
  const name = text.toLowerCase()
  if (NAMED[name] !== undefined) return name
  return /^#?([\da-f]{3}|[\da-f]{6})$/.exec(name)?.[1]
}

/** Six digits for a result of `parseColor`. A color on which white text is hard to read is darkened; its hue stays. */
export function paintOf(color: BadgeColor): string {
  const digits = NAMED[color] ?? (color.length === 3 ? color.replace(/./g, '$&$&') : color)
  let rgb = [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16))
  if (brightness(rgb) <= WHITE_TEXT_UP_TO) {
    while (1.05 / (luminance(rgb) + 0.05) < CONTRAST) rgb = rgb.map((channel) => Math.floor(channel * 0.97))
  }
  return rgb.map((channel) => channel.toString(16).padStart(2, '0')).join('')
}

/** @param paint six hexadecimal digits */
function hasWhiteText(paint: string): boolean {
  return brightness([0, 2, 4].map((at) => Number.parseInt(paint.slice(at, at + 2), 16))) <= WHITE_TEXT_UP_TO
}

/** Brightness from 0 to 1 (https://www.w3.org/TR/AERT/#color-contrast). */
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

/** All digits, or compact ("1.2k"). Compact counts are truncated: no badge says 1M before the count reaches a million. */
export function showCount(count: bigint, { compact }: { compact: boolean }): string {
  if (!compact) return new Intl.NumberFormat('en').format(count)
  const format = { notation: 'compact', maximumFractionDigits: 1, roundingMode: 'trunc' } as const
  // The SI prefix for a thousand is a lower-case k; Intl writes a capital K.
  return new Intl.NumberFormat('en', format).format(count).replace('K', 'k')
}

/**
 * The text of a badge that shows a problem.
 * @param parameters the known parameters: the text repeats nothing else that a client sent
 */
export function refusalText({ code, status, details }: Problem, parameters: readonly string[]): string {
  const [wrong] = details.errors ?? []
  if (code === 'malformed_key') return 'key is not percent-encoded UTF-8'
  if (code === 'malformed_query') return 'query is not percent-encoded UTF-8'
  if (code === 'not_found') return 'write / in the key as %2F'
  if (code === 'too_many_keys') return 'too many keys'
  if (code === 'invalid_request' && wrong !== undefined) {
    // The rest of the message is for the owner, not for an image.
    if (wrong.field === 'prefix' && wrong.message.startsWith('is not public')) return 'prefix is not public'
    return ['key', ...parameters].includes(wrong.field) ? `${wrong.field} ${wrong.message}` : 'unknown parameter'
  }
  if (status === 404) return 'not found'
  if (status === 429) return 'too many requests'
  return status === 503 ? 'unavailable' : 'error'
}
