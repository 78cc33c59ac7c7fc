import type { TopLevelSpec } from 'vega-lite'
import type { Point } from './chart-points.ts'

/** A chart of the report. */
export interface Chart {
  /** File name without its extension. */
  name: string
  /** Text alternative. */
  alt: string
  spec: TopLevelSpec
}

/** A quantitative axis. */
export interface Axis {
  title: string
  log?: boolean
  /** Tick values, which also bound the axis. Default: Vega-Lite's choice. */
  values?: readonly number[]
}

const TEXT = '#24292f'
const LINES = '#d0d7de'
/** Replacements for readers whose system is dark. */
const DARK = { [TEXT]: '#e6edf3', [LINES]: '#3d444d' }
/** Colours that read on both white and black. */
const PALETTE = ['#3b82f6', '#e8710a', '#1a9e4b', '#c026d3', '#b58900', '#64748b', '#e5484d', '#0891b2']
const WIDTH = 620
const HEIGHT = 280

const CONFIG = {
  background: 'transparent',
  font: 'system-ui, sans-serif',
  view: { stroke: LINES },
  axis: {
    labelColor: TEXT,
    titleColor: TEXT,
    gridColor: LINES,
    domainColor: LINES,
    tickColor: LINES,
    titleFontWeight: 'normal',
    labelLimit: 320,
  },
  legend: { labelColor: TEXT, titleColor: TEXT, labelLimit: 320, titleFontWeight: 'normal' },
  header: { labelColor: TEXT, titleColor: TEXT, labelFontSize: 12 },
  range: { category: PALETTE },
} as const

/** Draws a chart as SVG for light and dark systems. The same figures always give the same text. */
export async function renderChart({ spec, alt }: Chart): Promise<string> {
  // Not at the top: measuring without drawing works without bench/package.json.
  const [{ parse, resetSVGDefIds, View }, { compile }] = await Promise.all([import('vega'), import('vega-lite')])
  resetSVGDefIds()
  const { spec: vega } = compile({ ...spec, padding: 8 } as TopLevelSpec, { config: CONFIG as object })
  const svg = await new View(parse(vega), { renderer: 'none' }).toSVG()
  const dark = Object.entries(DARK).map(([from, to]) => `[fill="${from}"]{fill:${to}}[stroke="${from}"]{stroke:${to}}`)
  const style = `<style>@media (prefers-color-scheme:dark){${dark.join('')}}</style>`
  return `${svg.replace(/(<svg[^>]*>)/, `$1<title>${escapeText(alt)}</title>${style}`)}\n`
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** What to draw: points of several series. */
interface Drawing {
  name: string
  alt: string
  points: readonly Point[]
  /** The field of `axes` that determines the colour, and the title of its legend. */
  series: { field: string; title: string }
  y: Axis
}

/**
 * Lines through medians, with whiskers from minimum to maximum.
 *
 * @param rules dashed lines: points of x and `y`, by the same series
 */
export function lineChart(
  { name, alt, points, series, x, y }: Drawing & { x: Axis & { field: string } },
  rules: readonly Record<string, string | number>[] = [],
): Chart {
  const color = { field: series.field, type: 'nominal', title: series.title, sort: null, scale: { range: PALETTE } }
  const encoding = { x: { ...quantity(x), field: x.field }, color }
  const layer = [
    {
      mark: { type: 'rule', opacity: 0.6 },
      encoding: { ...encoding, y: { ...quantity(y), field: 'low' }, y2: { field: 'high' } },
    },
    { mark: 'line', encoding: { ...encoding, y: { ...quantity(y), field: 'median' } } },
    {
      mark: { type: 'point', filled: true, size: 45, opacity: 1 },
      encoding: { ...encoding, y: { ...quantity(y), field: 'median' } },
    },
    ...(rules.length === 0
      ? []
      : [
          {
            data: { values: rules },
            mark: { type: 'line', strokeDash: [5, 4], clip: true },
            encoding: { ...encoding, y: { ...quantity(y), field: 'y' } },
          },
        ]),
  ]
  return { name, alt, spec: framed(points, layer) }
}

/** Bars from zero to medians, with whiskers from minimum to maximum. On a logarithmic axis, points instead of bars. */
export function barChart({ name, alt, points, series, y, category }: Drawing & { category: string }): Chart {
  const label = { field: category, type: 'nominal', title: null, sort: null }
  const color = { field: series.field, type: 'nominal', title: series.title, sort: null, scale: { range: PALETTE } }
  const grouped = series.field !== category
  const offset = grouped ? { yOffset: { field: series.field, sort: null } } : {}
  const shade = grouped ? { color } : {}
  const value = quantity(y)
  const mark = y.log
    ? { type: 'point', filled: true, size: 70, opacity: 1, color: PALETTE[0] }
    : { type: 'bar', opacity: 0.85, color: PALETTE[0] }
  const layer = [
    { mark, encoding: { y: label, ...offset, ...shade, x: { ...value, field: 'median' } } },
    {
      mark: { type: 'rule', color: TEXT, strokeWidth: 1.2 },
      encoding: { y: label, ...offset, x: { ...value, field: 'low' }, x2: { field: 'high' } },
    },
  ]
  const rows = new Set(points.map((point) => point[category])).size
  const bars = grouped ? new Set(points.map((point) => point[series.field])).size : 1
  return { name, alt, spec: framed(points, layer, rows * Math.max(24, 14 * bars)) }
}

function quantity({ title, log = false, values }: Axis): object {
  return {
    type: 'quantitative',
    title,
    // The values bound the axis, because a single point has no domain.
    scale: {
      ...(log ? { type: 'log', nice: false } : { zero: true }),
      ...(values && { domain: [values[0], values.at(-1)] }),
    },
    axis: { ...(values && { values }), format: '~s' },
  }
}

function framed(points: readonly object[], layer: object[], height = HEIGHT): TopLevelSpec {
  return { data: { values: points }, width: WIDTH, height, layer } as unknown as TopLevelSpec
}
