import uPlot from 'uplot'
import type { Adjustment, Point } from './api.ts'
import { byId, element, row } from './elements.ts'
import { showChange, showCount, showShort, sum } from './format-counts.ts'
import { showMoment, showOnAxis, showPeriod } from './format-time.ts'
import type { By } from './ranges.ts'

/** With more periods than this, the chart is a line: bars would be thinner than their gaps. */
const MAX_BARS = 100
const HEIGHT = 220
/** Steps of the count axis: whole numbers only. */
const STEPS = Array.from({ length: 30 }, (_, digits) => [1, 2, 5].map((digit) => digit * 10 ** digits)).flat()

/** The data of a chart. */
export interface ChartData {
  by: By
  points: readonly Point[]
  adjustments?: readonly Adjustment[]
}

/** A chart on the page, and its table. */
export class Chart {
  readonly #holder: HTMLElement
  readonly #rows: HTMLElement
  #data: ChartData = { by: 'hour', points: [] }
  #drawn: uPlot | undefined
  /** Describes the data that the chart was drawn for. While it stays the same, new counts are put into the existing chart. */
  #shape = ''

  /** @param id the id of the chart's element; the table's body is `${id}-rows` */
  constructor(id: string) {
    this.#holder = byId(id)
    this.#rows = byId(`${id}-rows`)
    new ResizeObserver(() => this.#drawn?.setSize(this.#size())).observe(this.#holder)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#redraw())
  }

  show(data: ChartData): void {
    this.#data = data
    const { by, points, adjustments = [] } = data
    const shape = [by, points[0]?.start, points.length, adjustments.length].join()
    if (shape === this.#shape) this.#drawn?.setData(this.#columns())
    else this.#redraw()
    this.#shape = shape
    this.#rows.replaceChildren(
      ...points.map(({ start, count }) => row(showPeriod(new Date(start), by), showCount(count))),
    )
    this.#holder.setAttribute(
      'aria-label',
      `Chart: ${showCount(sum(points))} in ${points.length} periods of one ${by}. The table below has the numbers.`,
    )
  }

  #size(): { width: number; height: number } {
    return { width: Math.max(200, this.#holder.clientWidth), height: HEIGHT }
  }

  #columns(): uPlot.AlignedData {
    const { points } = this.#data
    return [points.map((_, index) => index), points.map(({ count }) => Number(count))]
  }

  #redraw(): void {
    this.#drawn?.destroy()
    this.#drawn = undefined
    if (this.#data.points.length > 0) this.#drawn = new uPlot(this.#options(), this.#columns(), this.#holder)
  }

  #options(): uPlot.Options {
    const { by, points } = this.#data
    const style = getComputedStyle(document.documentElement)
    const color = (name: string) => style.getPropertyValue(`--${name}`).trim()
    const font = `12px ${getComputedStyle(document.body).fontFamily}`
    const bars = points.length <= MAX_BARS
    const label = (index: number) => (points[index] ? showOnAxis(new Date(points[index].start), by) : '')
    return {
      ...this.#size(),
      padding: [12, 4, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: !bars } },
      // By index, because periods differ in length: months in days, days in hours.
      scales: {
        x: { time: false, range: () => [-0.6, points.length - 0.4] },
        y: { range: (_, min, max) => [Math.min(0, min), Math.max(1, max) * 1.05] },
      },
      axes: [
        {
          stroke: color('dim'),
          font,
          grid: { show: false },
          ticks: { show: false },
          incrs: STEPS,
          gap: 8,
          size: 28,
          space: by === 'month' ? 62 : 56,
          values: (_, places) => places.map(label),
        },
        {
          stroke: color('dim'),
          font,
          grid: { stroke: color('line'), width: 1 },
          ticks: { show: false },
          incrs: STEPS,
          gap: 8,
          size: axisWidth,
          values: (_, places) => places.map(showShort),
        },
      ],
      series: [
        {},
        bars
          ? {
              fill: color('accent'),
              stroke: color('accent'),
              width: 0,
              paths: uPlot.paths.bars!({ size: [0.72, 48], radius: 0.12 }),
              points: { show: false },
            }
          : {
              fill: color('accent-soft'),
              stroke: color('accent'),
              width: 1.5,
              paths: uPlot.paths.stepped!({ align: 1 }),
              points: { show: false },
            },
      ],
      hooks: { init: [(chart) => this.#addTip(chart)], draw: [(chart) => this.#markAdjustments(chart)] },
    }
  }

  /** Shows the period and the count under the pointer. */
  #addTip(chart: uPlot): void {
    const tip = element('div', { class: 'tip', hidden: '' })
    chart.over.append(tip)
    // Set here rather than in the options, because it needs the element.
    chart.hooks.setCursor = [
      ({ cursor: { idx, left = -1 } }) => {
        const { by, points } = this.#data
        const point = idx == null || left < 0 ? undefined : points[idx]
        tip.hidden = point === undefined
        if (point === undefined) return
        tip.replaceChildren(element('b', {}, showCount(point.count)), ` ${showPeriod(new Date(point.start), by)}`)
        const x = chart.valToPos(idx!, 'x')
        tip.style.left = `${Math.max(0, Math.min(x - tip.offsetWidth / 2, chart.over.clientWidth - tip.offsetWidth))}px`
      },
    ]
  }

  /** Draws a dashed line at each adjustment. */
  #markAdjustments({ ctx, bbox, valToPos }: uPlot): void {
    const { points, adjustments = [] } = this.#data
    ctx.save()
    ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--mark').trim()
    ctx.lineWidth = 2 * devicePixelRatio
    ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio])
    for (const { at } of adjustments) {
      const index = points.findLastIndex(({ start }) => new Date(start) <= new Date(at))
      if (index === -1) continue
      const x = Math.round(valToPos(index, 'x', true))
      ctx.beginPath()
      ctx.moveTo(x, bbox.top)
      ctx.lineTo(x, bbox.top + bbox.height)
      ctx.stroke()
    }
    ctx.restore()
  }
}

/** The width of the count axis in pixels: as small as possible, so that the chart aligns with the elements around it. */
function axisWidth(chart: uPlot, labels: string[] | null, axis: number): number {
  const { ctx, axes } = chart
  ctx.save()
  // uPlot has turned the font into a list by now, with the size in device pixels.
  ctx.font = String(axes[axis]!.font?.[0])
  const widths = (labels ?? []).map((label) => ctx.measureText(label).width / devicePixelRatio)
  ctx.restore()
  return Math.ceil(Math.max(16, ...widths)) + 8
}

/** A row of the table of adjustments. */
export function adjustmentRow({ at, kind, count }: Adjustment): HTMLTableRowElement {
  return element(
    'tr',
    {},
    element('td', {}, showMoment(new Date(at))),
    element('td', {}, kind),
    element('td', { class: 'number' }, showChange(count)),
  )
}
