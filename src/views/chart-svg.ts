import { html } from 'hono/html'
import { barPath, gridLines, tenths } from '../chart-shapes.ts'
import { type Unit, withUnit } from '../units.ts'
import { showCount } from './badge.ts'

/** A chart to draw. Its units are days or months in UTC; the last one is not over. */
interface ChartImage {
  /** What is counted. */
  of: Unit
  by: 'day' | 'month'
  /** When each unit begins, in milliseconds since 1970. */
  starts: readonly number[]
  counts: readonly bigint[]
  /** The last day, in milliseconds since 1970. */
  today: number
}

const WIDTH = 640
const HEIGHT = 200
/** Where the bars and their axis begin and end. */
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 620, 48, 172]
const BAR_PART = 0.74

// Its own ground, so that it is readable where page and picture disagree about the colors.
const STYLE =
  '.g{fill:#fff;stroke:#dfe3ea}text{fill:#566173;font:12px system-ui,sans-serif}.s{fill:#1b2330;font-weight:600}.l{stroke:#dfe3ea}.b{fill:#2f6fdb}.n{stroke:#2f6fdb}' +
  '@media(prefers-color-scheme:dark){.g{fill:#1a2028;stroke:#2d3642}text{fill:#a3aebd}.s{fill:#e8ecf2}.l{stroke:#2d3642}.b{fill:#5b93f0}.n{stroke:#5b93f0}}'

/** Draws a chart for pages that show images only: light and dark in one file, with its numbers as text. @returns an SVG document */
export function drawChart({ of, by, starts, counts, today }: ChartImage): string {
  const total = counts.reduce((sum, count) => sum + count, 0n)
  const sum = withUnit(showCount(total), total, of)
  const days = showDays(starts[0]!, today)
  const most = counts.reduce((most, count, index) => (count > counts[most]! ? index : most), 0)
  const where =
    by === 'day' ? `on ${showDay(starts[most]!)}` : `in ${inUtc(starts[most]!, { month: 'short', year: 'numeric' })}`
  const about = counts[most]! > 0n ? `Most: ${showCount(counts[most]!)} ${where}.` : 'Nothing was counted.'
  const values = counts.map(Number)
  const lines = gridLines(Math.min(...values), Math.max(...values))
  const y = (value: number) => tenths(BOTTOM - ((value - lines[0]!) / (lines.at(-1)! - lines[0]!)) * (BOTTOM - TOP))
  const place = (RIGHT - LEFT) / counts.length
  const x = (index: number) => LEFT + place * index
  const bars = values.map((value, index) =>
    barPath(x(index) + (place * (1 - BAR_PART)) / 2, place * BAR_PART, y(0), y(value)),
  )
  const labels = starts.map((at, index) => {
    const text = by === 'day' ? (new Date(at).getUTCDay() === 1 ? showDay(at) : '') : axisMonth(at)
    return text && html`\n<text x="${tenths(x(index) + place / 2)}" y="190" text-anchor="middle">${text}</text>`
  })
  const grid = lines.map(
    (line) => html`\n<path class="l" d="M${LEFT} ${y(line)}H${RIGHT}"/>
<text x="${LEFT - 8}" y="${y(line) + 4}" text-anchor="end">${showCount(BigInt(line), { compact: true })}</text>`,
  )
  return String(html`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${sum}, ${days}">
<title>${sum}, ${days}</title>
<desc>By ${by}, in UTC. ${about} The last ${by} is not over.</desc>
<style>${STYLE}</style>
<pattern id="now" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="b" d="M0 0h2.5v6H0z"/></pattern>
<rect class="g" x=".5" y=".5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="8"/>
<g aria-hidden="true">
<text class="s" x="20" y="28">${sum}</text>
<text x="${RIGHT}" y="28" text-anchor="end">${days}</text>${grid}
<path class="b" d="${bars.slice(0, -1).join('')}"/>
<path class="n" fill="url(#now)" d="${bars.at(-1)}"/>${labels}
</g>
</svg>`)
}

/** Such as "Oct 27 – Nov 25, 2026", in UTC. Takes milliseconds since 1970. */
export function showDays(first: number, last: number): string {
  const format = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' })
  // Not every font has the narrow blanks.
  return format.formatRange(first, last).replaceAll('\u2009', ' ')
}

const showDay = (at: number) => inUtc(at, { month: 'short', day: 'numeric' })

/** Labels January with its year. */
function axisMonth(at: number): string {
  return inUtc(at, new Date(at).getUTCMonth() === 0 ? { year: 'numeric' } : { month: 'short' })
}

function inUtc(at: number, parts: Intl.DateTimeFormatOptions): string {
  return new Date(at).toLocaleDateString('en', { ...parts, timeZone: 'UTC' })
}
