import { html } from 'hono/html'
import { PROBLEMS, type Problem } from '../service/problem.ts'
import { measureText } from './measure-text.ts'

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

/** Draws a badge like those of shields.io, with the figures of badge-maker 6.0.0. @returns an SVG document */
export function drawBadge({ label, message, color, labelColor, style }: Badge): string {
  const loud = style === 'for-the-badge'
  const isFlat = style === 'flat'
  // The baseline is in tenths of a pixel.
  const [height, baseline] = loud ? [28, 175] : [20, 140]
  const right = halfOf(message, color, { loud, isBold: loud })
  const halves = label.trim() === '' ? [right] : [halfOf(label, labelColor, { loud, isBold: false }), right]
  const width = halves.reduce((sum, half) => sum + half.width, 0)
  const name = halves.map(({ text }) => text).join(': ')
  const rects: unknown[] = []
  const texts: unknown[] = []
  let x = 0
  for (const half of halves) {
    rects.push(html`<rect x="${x}" width="${half.width}" height="${height}" fill="#${half.paint}"/>`)
    // Two texts move towards each other.
    const nearer = loud || halves.length === 1 ? 0 : half === right ? -1 : 1
    texts.push(drawText(half, 10 * (x + half.width / 2 + nearer), baseline, isFlat))
    x += half.width
  }
  const background = isFlat
    ? // The same id for the same shape, because a page may have several badges in its own document.
      html`<filter id="blur"><feGaussianBlur stdDeviation="16"/></filter>
<linearGradient id="flat" x2="0" y2="100%"><stop offset="0" stop-color="#bbb" stop-opacity=".1"/><stop offset="1" stop-opacity=".1"/></linearGradient>
<clipPath id="flat-${width}"><rect width="${width}" height="${height}" rx="3"/></clipPath>
<g clip-path="url(#flat-${width})">${rects}<rect width="${width}" height="${height}" fill="url(#flat)"/></g>`
    : html`<g shape-rendering="crispEdges">${rects}</g>`
  return String(html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" role="img" aria-label="${name}">
<title>${name}</title>
${background}
<g aria-hidden="true" transform="scale(.1)" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="${loud ? 100 : 110}" text-rendering="geometricPrecision">${texts}</g>
</svg>`)
}

/** A text of a badge and its background, in pixels and hexadecimal digits. `length`: of the text, if it is no estimate. */
function halfOf(given: string, color: BadgeColor, { loud, isBold }: { loud: boolean; isBold: boolean }) {
  const text = loud ? given.trim().toUpperCase() : given.trim()
  const { width, characters, isExact } = measureText(text, loud ? 10 : 11, isBold)
  // An odd width puts the middle of a text on a pixel.
  let length = loud ? Math.floor(width) : width | 1
  // Spacing would tear joined letters apart.
  if (loud && isExact) length += 1.25 * characters
  const padding = loud ? 12 : 5
  const paint = NAMED[color] ?? color
  return { text, length: isExact ? length : undefined, width: length + 2 * padding, paint, isBold }
}

/** @param x the middle of the text, in tenths of a pixel, like `y` */
function drawText(
  { text, length, paint, isBold }: ReturnType<typeof halfOf>,
  x: number,
  y: number,
  hasShadow: boolean,
) {
  const [ink, shadow] = isBright(paint) ? ['#333', '#ccc'] : ['#fff', '#010101']
  const fitted = length === undefined ? '' : html` textLength="${10 * length}"`
  const bold = isBold ? html` font-weight="bold"` : ''
  const behind = hasShadow
    ? html`<g fill="${shadow}"><text x="${x}" y="${y + 10}" fill-opacity=".8" filter="url(#blur)"${fitted}>${text}</text>
<text x="${x}" y="${y + 10}" fill-opacity=".3"${fitted}>${text}</text></g>
`
    : ''
  return html`${behind}<text x="${x}" y="${y}" fill="${ink}"${bold}${fitted}>${text}</text>
`
}

/** Makes an image harmless when opened as a page, and lets every page embed it. */
export const SVG_HEADERS = {
  'Content-Type': 'image/svg+xml; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

/** A badge's color: one of the names below, or 3 or 6 hexadecimal digits. */
type BadgeColor = string

// The color names of shields.io (https://shields.io/badges), and some of CSS. The prototype is null because "constructor" is
// not a color.
const NAMED: Record<string, string> = Object.assign(Object.create(null), {
  brightgreen: '4b0',
  green: '67ac09',
  yellowgreen: '95991a',
  yellow: 'd8b800',
  orange: 'ea7233',
  red: 'dd4343',
  blue: '007ec6',
  purple: '800080',
  pink: 'ffc0cb',
  cyan: '0ff',
  grey: '555',
  gray: '555',
  lightgrey: '939393',
  lightgray: '939393',
  black: '000',
  success: '4b0',
  informational: '007ec6',
  important: 'ea7233',
  critical: 'dd4343',
  inactive: '939393',
})

export const COLOR_NAMES = Object.keys(NAMED)

export const COLOR_RULE = 'must be a color name such as "blue", or 3 or 6 hexadecimal digits'

/** Parses a name, or hexadecimal digits with or without "#", into lower case; `undefined` if the text is not a color. */
export function parseColor(text: string): BadgeColor | undefined {
  const name = text.toLowerCase()
  if (NAMED[name] !== undefined) return name
  return /^#?([\da-f]{3}|[\da-f]{6})$/.exec(name)?.[1]
}

/** Whether text on a color is dark (https://www.w3.org/TR/AERT/#color-contrast). @param paint 3 or 6 hexadecimal digits */
function isBright(paint: string): boolean {
  const digits = paint.length === 3 ? paint.replace(/./g, '$&$&') : paint
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16))
  // To hundredths, as shields.io.
  return Number(((red * 299 + green * 587 + blue * 114) / 255_000).toFixed(2)) > 0.69
}

/** All digits, or compact ("1.2k"). Compact counts are truncated: no badge says 1M before the count reaches a million. */
export function showCount(count: bigint, { compact = false } = {}): string {
  if (!compact) return new Intl.NumberFormat('en').format(count)
  const format = { notation: 'compact', maximumFractionDigits: 1, roundingMode: 'trunc' } as const
  // The SI prefix for a thousand is a lower-case k; Intl writes a capital K.
  return new Intl.NumberFormat('en', format).format(count).replace('K', 'k')
}

/** The text of a badge that shows a problem. It repeats nothing that a client sent. */
export function refusalText({ code, detail, errors: [wrong] }: Problem): string {
  if (code === 'not_found') return detail
  // The rest of a message is for the owner, not for an image.
  return wrong === undefined || code !== 'invalid_request'
    ? PROBLEMS[code]
    : `${wrong.field} ${wrong.message.split(':')[0]}`
}
