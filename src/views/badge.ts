import { html } from 'hono/html'
import { PROBLEMS, type Problem } from '../service/problem.ts'

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

export const COLOR_NAMES = /* @__PURE__ */ Object.keys(NAMED)

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

/** A count in short: "1.2k". Truncated: no badge says 1M before the count reaches a million. */
export function showCompact(count: bigint): string {
  const format = { notation: 'compact', maximumFractionDigits: 1, roundingMode: 'trunc' } as const
  // The SI prefix for a thousand is a lower-case k; Intl writes a capital K.
  return new Intl.NumberFormat('en', format).format(count).replace('K', 'k')
}

/** The text of a badge that shows a problem. It repeats nothing that a client sent. */
export function refusalText({ code, detail, errors: [wrong] }: Problem): string {
  if (code === 'not_found') return detail
  // The rest of a message is for the owner, not for an image.
  return wrong === undefined || code !== 'invalid_request'
    ? PROBLEMS[code].title
    : `${wrong.field} ${wrong.message.split(':')[0]}`
}

/** The widths of Verdana's characters from " " to "~", in units of which the size of the font has 2,048. */
const REGULAR = widths(
  '720 806 940 1676 1302 2204 1488 550 930 930 1302 1676 745 930 745 930 1302 1302 1302 1302 1302 1302 1302 1302 1302 1302 930 930 1676 1676 1676 1117 2048 1400 1404 1430 1579 1295 1177 1588 1539 862 931 1419 1140 1726 1532 1612 1235 1612 1424 1400 1262 1499 1400 2025 1403 1260 1403 930 930 930 1676 1302 1302 1230 1276 1067 1276 1220 720 1276 1296 562 705 1212 562 1992 1296 1244 1276 1276 874 1067 807 1296 1212 1676 1212 1212 1076 1300 930 1300 1676',
)
const BOLD = widths(
  '700 824 1203 1776 1456 2605 1766 680 1113 1113 1456 1776 740 983 740 1412 1456 1456 1456 1456 1456 1456 1456 1456 1456 1456 824 824 1776 1776 1776 1263 1975 1590 1561 1483 1700 1399 1332 1661 1715 1118 1137 1579 1305 1941 1734 1741 1502 1741 1602 1455 1397 1663 1564 2311 1564 1510 1418 1113 1412 1113 1776 1456 1456 1368 1431 1205 1431 1360 865 1431 1458 700 825 1375 700 2167 1458 1407 1431 1431 1018 1215 933 1458 1332 2005 1370 1334 1223 1456 1113 1456 1776',
)
const FIRST = 32
/** Where symbols and the scripts of East Asia begin, most of whose characters are as wide as they are high. */
const FIRST_WIDE = 0x2100
const WIDE = 2048
/** An emoji, in Noto Color Emoji. */
const EMOJI = 2550

function widths(list: string): number[] {
  return list.split(' ').map(Number)
}

/**
 * Measures a text in Verdana as shields.io does, to hundredths of a pixel for each character, without a font: ASCII, and the same
 * letters with accents. Other letters are as wide as "o" or "S", emoji have one width, however many are joined in one.
 * @returns `characters`: as people count them; `isExact`: whether the width, in pixels, is not an estimate
 */
export function measureText(text: string, size: number, isBold = false) {
  const table = isBold ? BOLD : REGULAR
  const widthOf = (character: string) => table[character.charCodeAt(0) - FIRST]
  const measured = { width: 0, characters: 0, isExact: true }
  const add = (units: number) => {
    measured.width += Math.round((units * size * 100) / 2048) / 100
  }
  for (const character of charactersOf(text)) {
    measured.characters++
    if (/\p{Emoji_Presentation}|\p{Emoji}\uFE0F/u.test(character)) {
      measured.isExact = false
      add(EMOJI)
      continue
    }
    for (const part of character) {
      if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(part)) continue
      const exact = widthOf(part.normalize('NFD'))
      measured.isExact &&= exact !== undefined
      add(exact ?? (part.codePointAt(0)! < FIRST_WIDE ? widthOf(/\p{Lu}/u.test(part) ? 'S' : 'o')! : WIDE))
    }
  }
  return measured
}

// Creating it takes longer than drawing a badge.
let segmenter: Intl.Segmenter | undefined

function charactersOf(text: string): Iterable<string> {
  if (!/[^ -~]/.test(text)) return text
  segmenter ??= new Intl.Segmenter()
  return Array.from(segmenter.segment(text.normalize()), ({ segment }) => segment)
}
