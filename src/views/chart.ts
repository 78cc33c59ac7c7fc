import { html } from 'hono/html'
import type { HistoryUnit } from '../counters/history/history-range.ts'
import type { View } from '../periods.ts'
import { type Unit, withUnit } from '../units.ts'
import type { Html } from './dashboard/layout.ts'
import { showCount, showDay, showDays, showMonth, showShort, weekdayOf } from './english.ts'

/** A unit of a chart. Its counts are `null` before it has begun. */
export interface Point {
  /** A clock time such as 2026-11-28T14:00:00+01:00. */
  start: string
  count: bigint | null
  /** The count of the same unit in the period before. */
  before?: bigint | null
  also?: bigint | null
  /** The counts of its parts, which add up to its count. */
  parts?: readonly bigint[]
}

interface Chart {
  by: HistoryUnit
  points: readonly Point[]
  /** The index of the unit that is not over. */
  running: number | null
  show?: View['show']
}

// Per cents of the height: of the highest grid line, and of the lowest one, below which the axis has its labels.
const [TOP, FLOOR] = [4, 87.5]
/** How much of its place a bar fills, and of few bars each. */
const [BAR_PART, PART_OF_FEW] = [0.75, 0.05]
const INNER_PART = 0.6
/** Of the parts of a stack. */
export const PART_COLORS =
  '#2f6fdb,#5b93f0 #cf7a1c,#f0a04b #1f7a4a,#3fa873 #b765a8,#d98fce #0b7f96,#4cc3d9 #8b95a5,#7b8697'
    .split(' ')
    .map((colors) => `light-dark(${colors})`)
/** In a chart of more days weekends cannot be seen, and its labels are months instead of Mondays. */
const MAX_DAYS_IN_WEEKS = 130
/** The widths for which labels are chosen, in pixels: that of a wide chart, and that on the narrowest phone. */
const [WIDE, NARROW] = [620, 228]
/** The estimated width of a letter, and the space between two labels. */
const [LETTER, LABEL_GAP] = [7, 8]
/** Labels further right would leave the chart. */
const LAST_LABEL = 0.97

/** Draws a chart in an SVG element of any size. Labels of values stand left of it, and labels of class `wide` need 620 pixels. */
export function drawChart({ by, points: given, running, show = '' }: Chart): Html {
  const points = show === 'cumulative' ? cumulated(given) : given
  const main = (point: Point) => numberOf(show === 'also' ? point.also : point.count)
  const before = ({ before }: Point, index: number) =>
    show === 'also' || show === 'keys' || (running !== null && index >= running) ? null : numberOf(before)
  const stacks = points.map((point) => (show === 'keys' ? stacked(point) : []))
  const ends = stacks.flatMap((stack) => stack.map(({ to }) => to))
  const values = [...points.flatMap((point, index) => [main(point), before(point, index)]), ...ends].filter(
    (value) => value !== null,
  )
  const lines = gridLines(Math.min(...values, 0), Math.max(...values, 0))
  const y = placeOf(lines)
  const zero = y(0)
  const part = Math.min(BAR_PART, PART_OF_FEW * points.length)
  const all = (draw: (point: Point, index: number) => string) => points.map(draw).join('')
  const bar = (value: number | null, index: number, part: number, from = 0) =>
    value === null || value === from
      ? ''
      : `M${hundredths(index + (1 - part) / 2)} ${y(from)}V${y(value)}h${hundredths(part)}V${y(from)}z`
  const paths = {
    weekends: all(({ start }, index) => {
      const isShaded = by === 'day' && points.length <= MAX_DAYS_IN_WEEKS && weekdayOf(start) % 6 === 0
      return isShaded ? `M${index} ${TOP}h1V${FLOOR}h-1z` : ''
    }),
    bars: all((point, index) => (index === running || show === 'keys' ? '' : bar(main(point), index, part))),
    inside: all((point, index) => (show === 'both' ? bar(numberOf(point.also), index, part * INNER_PART) : '')),
    previous: all((point, index) => {
      const value = before(point, index)
      const isFirst = index === 0 || before(points[index - 1]!, index - 1) === null
      return value === null ? '' : `${isFirst ? 'M' : 'L'}${index + 0.5} ${y(value)}`
    }),
  }
  const drawn = [
    ...Object.entries(paths).map(([name, d]) => d && html`<path class="${name}" d="${d}"/>`),
    ...(stacks[0] ?? []).map((_, nth) => {
      const d = stacks.map((stack, index) => bar(stack[nth]!.to, index, part, stack[nth]!.from))
      return html`<path fill="${PART_COLORS[nth]}" d="${d.join('')}"/>`
    }),
  ]
  // -1: none has begun. In some zones, a day begins within an hour, which belongs to the day before.
  const now = running === null || running < 0 || show === 'keys' ? null : main(points[running]!)
  const percent = (units: number) => `${hundredths((units / points.length) * 100)}%`
  const current =
    running !== null && now
      ? html`<rect class="now" fill="url(#hatch)" x="${percent(running + (1 - part) / 2)}" width="${percent(part)}" y="${Math.min(zero, y(now))}%" height="${hundredths(Math.abs(zero - y(now)))}%"/>`
      : ''
  const labels = axisLabels(points, by).map(
    ({ index, text, isWide }) =>
      html`<text${isWide ? html` class="wide"` : ''} x="${percent(index + 0.5)}" y="100%" dy="-2" text-anchor="middle">${text}</text>`,
  )
  return html`<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0h2.5v6H0z"/></pattern>
${plot(lines, points.length, drawn)}
${current}
${labels}`
}

/** Draws what counters have counted up to each day of their age, as lines over each other. */
export function drawAges(ages: readonly (readonly bigint[])[]): Html {
  const values = ages.map((counts) => counts.map(Number))
  const days = Math.max(...values.map(({ length }) => length))
  const lines = gridLines(Math.min(...values.flat()), Math.max(...values.flat()))
  const y = placeOf(lines)
  const drawn = values.map((counts, nth) => {
    const points = counts.map((value, day) => `${day + 0.5} ${y(value)}`)
    return html`<path class="line" stroke="${PART_COLORS[nth]}" d="M${points.join('L')}h.01"/>`
  })
  const labels = [0, 0.25, 0.5, 0.75].map((part) => Math.floor(part * days))
  return html`${plot(lines, days, drawn)}
${labels.map((day) => html`<text x="${hundredths(((day + 0.5) / days) * 100)}%" y="100%" dy="-2">Day ${day + 1}</text>`)}`
}

/** Finds the place of a value between the lowest and the highest line, in per cent of the height. */
function placeOf(lines: readonly number[]): (value: number) => number {
  const [least, most] = [lines[0]!, lines.at(-1)!]
  return (value) => hundredths(TOP + ((most - value) / (most - least)) * (FLOOR - TOP))
}

/** Grid lines with their values, and a drawing in which a unit is 1 wide, and the whole 100 high. */
function plot(lines: readonly number[], units: number, drawn: readonly (Html | string)[]): Html {
  const y = placeOf(lines)
  const grid = lines.map(
    (line) => html`<line class="grid" x2="100%" y1="${y(line)}%" y2="${y(line)}%"/>
<text x="-8" y="${y(line)}%" dy="4" text-anchor="end">${showShort(line)}</text>`,
  )
  return html`<rect class="band" y="${TOP}%" width="0" height="${FLOOR - TOP}%"/>
${grid}
<svg width="100%" height="100%" viewBox="0 0 ${units} 100" preserveAspectRatio="none">${drawn}</svg>`
}

/** Each unit with what was counted from the first one on. */
export function cumulated(points: readonly Point[]): Point[] {
  let [all, allBefore] = [0n, 0n]
  return points.map(({ count, before, ...point }) => {
    all += count ?? 0n
    allBefore += before ?? 0n
    return { ...point, count: count === null ? null : all, before: before == null ? null : allBefore }
  })
}

/** Where the parts of a unit begin and end, the first one at zero: negative ones below it. */
function stacked({ parts = [] }: Point): { from: number; to: number }[] {
  const ends = { up: 0, down: 0 }
  return parts.map((part) => {
    const side = part < 0n ? 'down' : 'up'
    const from = ends[side]
    ends[side] += Number(part)
    return { from, to: ends[side] }
  })
}

const numberOf = (count: bigint | null | undefined) => (count == null ? null : Number(count))

const hundredths = (value: number) => Math.round(value * 100) / 100

/** Steps between grid lines, before their power of ten. */
const STEPS = [1, 2, 2.5, 4, 5, 10]
const MAX_STEPS = 4

/** Round values at even distances that enclose two others, and zero. @param least the smallest and `most` the largest one */
export function gridLines(least: number, most: number): number[] {
  const [bottom, top] = [Math.min(0, least), Math.max(1, most)]
  const rough = (top - bottom) / MAX_STEPS
  const power = 10 ** Math.floor(Math.log10(rough))
  // Counts are whole numbers.
  const isStep = (step: number) => step >= rough && Number.isInteger(step)
  const step = STEPS.map((digits) => digits * power).find(isStep) ?? 1
  const first = Math.floor(bottom / step)
  const last = Math.ceil(top / step)
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}

/** The labels that never collide: of days the Mondays if there are more than seven, and of more than `MAX_DAYS_IN_WEEKS` the months. */
export function axisLabels(points: readonly Pick<Point, 'start'>[], by: HistoryUnit) {
  const inMonths = by === 'month' || points.length > MAX_DAYS_IN_WEEKS
  const candidates = points.flatMap(({ start }, index) => {
    const day = Number(start.slice(8, 10))
    const ofDays = inMonths ? day === 1 : points.length <= 7 || weekdayOf(start) === 1
    const isShown = { hour: true, day: ofDays, week: !inMonths || day <= 7, month: true }[by]
    const text = inMonths ? showMonth(start) : by === 'hour' ? start.slice(11, 16) : showDay(start)
    return isShown ? [{ index, text }] : []
  })
  const [first, second] = candidates
  const between = first && second ? (second.index - first.index) / points.length : 1
  const room = Math.max(...candidates.map(({ text }) => text.length)) * LETTER + LABEL_GAP
  const wide = Math.ceil(room / WIDE / between)
  const narrow = wide * Math.ceil(room / NARROW / (between * wide))
  // A year is always among them.
  const year = candidates.findIndex(({ text }) => /^\d+$/.test(text))
  const phase = Math.max(0, year)
  return candidates
    .map((label, nth) => ({ ...label, isWide: (nth - phase) % narrow !== 0, isLeftOut: (nth - phase) % wide !== 0 }))
    .filter(({ isLeftOut, index }) => !isLeftOut && index + 0.5 < points.length * LAST_LABEL)
}

/** Draws the counts of a period's units as small bars, with the highest one as high as the drawing. */
export function drawSmall(counts: readonly bigint[]): Html {
  const values = counts.map((count) => Math.max(0, Number(count)))
  const most = Math.max(1, ...values)
  const bars = values.map((value, index) =>
    value === 0 ? '' : `M${index} 20v${-Math.max(1, Math.round((value * 20) / most))}h.7V20z`,
  )
  return html`<svg viewBox="0 0 ${Math.max(1, counts.length)} 20" preserveAspectRatio="none" aria-hidden="true"><path d="${bars.join('')}"/></svg>`
}

// The whole image, and the chart in it.
const [WIDTH, HEIGHT] = [640, 200]
const [LEFT, RIGHT, HEAD, FOOT] = [52, 620, 40, 196]

// Its own ground, so that it is readable where page and picture disagree about the colors.
const STYLE =
  '.ground{fill:#fff;stroke:#dfe3ea}text{fill:#566173;font:12px system-ui,sans-serif}.sum{fill:#1b2330;font-weight:600}.grid{stroke:#dfe3ea}.bars,pattern{fill:#2f6fdb}.now{stroke:#2f6fdb}.weekends,.band{opacity:.04}' +
  '@media(prefers-color-scheme:dark){.ground{fill:#1a2028;stroke:#2d3642}text{fill:#a3aebd}.sum{fill:#e8ecf2}.grid{stroke:#2d3642}.bars,pattern{fill:#5b93f0}.now{stroke:#5b93f0}}'

/** Draws a chart for pages that show images only: light and dark in one file, with its numbers as text. @returns an SVG document */
export function drawChartImage(of: Unit, { by, points }: Pick<Chart, 'by' | 'points'>, today: string): string {
  const counts = points.map(({ count }) => count!)
  const total = counts.reduce((sum, count) => sum + count, 0n)
  const sum = withUnit(showCount(total), total, of)
  const days = showDays(points[0]!.start.slice(0, 10), today)
  return String(html`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${sum}, ${days}">
<title>${sum}, ${days}</title>
<desc>By ${by}, in UTC. The last ${by} is incomplete.</desc>
<style>${STYLE}</style>
<rect class="ground" x=".5" y=".5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="8"/>
<g aria-hidden="true">
<text class="sum" x="20" y="28">${sum}</text>
<text x="${RIGHT}" y="28" text-anchor="end">${days}</text>
<svg x="${LEFT}" y="${HEAD}" width="${RIGHT - LEFT}" height="${FOOT - HEAD}" overflow="visible">
${drawChart({ by, points, running: points.length - 1 })}
</svg>
</g>
</svg>`)
}
