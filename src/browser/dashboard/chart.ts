import { byId, element, numberCell } from './elements.ts'
import { showCount, showShort, showUnits, type Unit } from './format-counts.ts'
import { showDays, showOnAxis, showUnit } from './format-time.ts'
import type { Adjustment, ChartNumbers, Point } from './numbers.ts'

const HEIGHT = 240
const TOP = 10
/** The height of the axis with its labels. */
const BOTTOM = 26
/** The widest bar, and how much of its place a bar fills. */
const MAX_BAR = 48
const BAR_PART = 0.74
/** In narrower places, bars touch each other. */
const MIN_GAP_PLACE = 5
const MAX_LINES = 5
const CHARACTER = 8

type ChartData = ChartNumbers & { unit: Unit; adjustments: readonly Adjustment[] }

/** The page's chart with its legend and its table. */
export class Chart {
  readonly #holder = byId('history')
  readonly #tip = element('div', { class: 'tip', hidden: '' })
  readonly #table = byId('history-rows').closest('details')!
  #data: ChartData | undefined
  // Read before the page changes, which would force another layout.
  #width = this.#holder.clientWidth

  constructor() {
    this.#table.addEventListener('toggle', () => this.#fillTable())
    new ResizeObserver(() => {
      const width = this.#holder.clientWidth
      if (width === this.#width) return
      this.#width = width
      this.#draw()
    }).observe(this.#holder)
    this.#holder.addEventListener('pointermove', (event) => this.#point(event))
    this.#holder.addEventListener('pointerdown', (event) => this.#point(event))
    this.#holder.addEventListener('pointerleave', () => this.#tip.toggleAttribute('hidden', true))
  }

  show(data: ChartData): void {
    this.#data = data
    this.#draw()
    this.#fillTable()
    const { by, count, unit, first, last } = data
    const label = `Chart: ${showUnits(count, unit)} by ${by}, ${showDays(first, last)}. The table below has the numbers.`
    this.#holder.setAttribute('aria-label', label)
    this.#legend(data)
  }

  #fillTable(): void {
    if (this.#data === undefined) return
    const { points, by } = this.#data
    const compares = comparesUnits(points)
    byId('history-before').hidden = !compares
    const rows = (this.#table.open ? points : []).map(({ start, count, before }) => {
      const unit = element('th', { scope: 'row' }, showUnit(new Date(start), by))
      const beforeCell = compares ? [numberCell(before == null ? '–' : showCount(before))] : []
      return element('tr', {}, unit, numberCell(count === null ? '–' : showCount(count)), ...beforeCell)
    })
    byId('history-rows').replaceChildren(...rows)
  }

  #legend({ unit, beforeFirst, beforeLast, running, by, points, adjustments }: ChartData): void {
    const entries: [sign: string, text: string][] = [['bar', unit.many]]
    if (running !== null) entries.push(['running', `this ${by}, not over yet`])
    if (comparesUnits(points)) entries.push(['before', `before: ${showDays(beforeFirst!, beforeLast!)}`])
    if (points.some(({ imported }) => imported)) entries.push(['imported', 'has imported counts'])
    if (adjustments.length > 0) entries.push(['adjusted', 'set or imported'])
    const items = entries.map(([sign, text]) => element('li', {}, element('i', { class: `sign ${sign}` }), text))
    byId('history-legend').replaceChildren(...items)
  }

  /** Points share the width evenly. */
  #places({ points }: ChartData, left: number) {
    const place = (this.#width - left) / points.length
    return { place, bar: place < MIN_GAP_PLACE ? place : Math.min(place * BAR_PART, MAX_BAR) }
  }

  #draw(): void {
    const data = this.#data
    this.#tip.hidden = true
    if (data === undefined || this.#width === 0) return
    const { points, by, running, adjustments } = data
    const values = points.flatMap(({ count, before }) => [Number(count), ...(before == null ? [] : [Number(before)])])
    const lines = linesOf(Math.min(0, ...values), Math.max(1, ...values))
    const [least, most] = [lines[0]!, lines.at(-1)!]
    const height = HEIGHT - TOP - BOTTOM
    const y = (value: number) => round(TOP + ((most - value) / (most - least)) * height)
    const labels = lines.map(showShort)
    const left = Math.max(...labels.map(({ length }) => length)) * CHARACTER + 8
    const { place, bar } = this.#places(data, left)
    const x = (index: number) => left + place * index
    const rectangle = ({ count }: Point, index: number) => {
      const [from, to] = [y(Math.max(0, Number(count))), y(Math.min(0, Number(count)))]
      return `M${round(x(index) + (place - bar) / 2)} ${to}V${from}h${round(bar)}V${to}z`
    }
    const path = (name: string, d: string, more = {}) => (d === '' ? [] : [shape('path', { class: name, d, ...more })])
    const over = points.map((point, index) => (index === running ? '' : rectangle(point, index))).join('')
    const now = running === null || points[running] === undefined ? '' : rectangle(points[running], running)
    const before = points
      .map(({ before }, index) => {
        if (before == null) return ''
        const pen = points[index - 1]?.before == null ? 'M' : 'L'
        return `${pen}${round(x(index) + place / 2)} ${y(Number(before))}`
      })
      .join('')
    const imported = points
      .map(({ imported }, index) => (imported ? `M${round(x(index))} ${y(least) + 3}h${round(place)}` : ''))
      .join('')
    const adjusted = adjustments
      .map(({ at }) => points.findLastIndex(({ start }) => new Date(start) <= new Date(at)))
      .map((index) => (index === -1 ? '' : `M${round(x(index) + place / 2)} ${TOP}V${y(least)}`))
      .join('')
    const hatch = { id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' }
    const drawing = shape(
      'svg',
      { width: this.#width, height: HEIGHT, 'aria-hidden': 'true', focusable: 'false' },
      shape('pattern', hatch, shape('rect', { width: 2.5, height: 6 })),
      ...lines.flatMap((line) => path(line === 0 ? 'grid zero' : 'grid', `M${left} ${y(line)}H${this.#width}`)),
      ...lines.map((line, at) => shape('text', { x: left - 8, y: y(line) + 4, 'text-anchor': 'end' }, labels[at]!)),
      ...path('bars', over),
      ...path('now', now, { fill: 'url(#hatch)' }),
      ...path('previous', before),
      ...path('imported', imported),
      ...path('adjusted', adjusted),
      ...this.#axis(points, by, x, place),
    )
    this.#holder.replaceChildren(drawing, this.#tip)
  }

  /** As many labels as fit. */
  #axis(points: readonly Point[], by: ChartData['by'], x: (index: number) => number, place: number): SVGElement[] {
    const texts = points.map(({ start }) => showOnAxis(new Date(start), by))
    const room = (Math.max(...texts.map(({ length }) => length)) + 2) * CHARACTER
    const every = Math.max(1, Math.ceil(room / place))
    return texts.flatMap((text, index) => {
      const half = (text.length * CHARACTER) / 2
      const middle = x(index) + place / 2
      if (index % every !== 0 || middle + half > this.#width + 4) return []
      return [shape('text', { x: round(Math.max(half, middle)), y: HEIGHT - 6, 'text-anchor': 'middle' }, text)]
    })
  }

  /** Shows the counts under the pointer. */
  #point({ clientX, target }: PointerEvent): void {
    const data = this.#data
    const svg = this.#holder.querySelector('svg')
    if (data === undefined || svg === null || this.#tip.contains(target as Node)) return
    const { left: begin } = svg.getBoundingClientRect()
    const left = svg.querySelector<SVGPathElement>('.grid')!.getBBox().x
    const { place } = this.#places(data, left)
    const index = Math.floor((clientX - begin - left) / place)
    const point = data.points[index]
    this.#tip.hidden = point === undefined
    if (point === undefined) return
    this.#tip.replaceChildren(
      element('b', {}, point.count === null ? '–' : showCount(point.count)),
      ` ${showUnit(new Date(point.start), data.by)}`,
      ...(index === data.running ? [', not over yet'] : []),
      ...(point.before == null ? [] : [element('div', {}, `${showCount(point.before)} before`)]),
    )
    const middle = left + place * (index + 0.5)
    const width = this.#tip.offsetWidth
    this.#tip.style.left = `${Math.max(0, Math.min(middle - width / 2, this.#width - width))}px`
  }
}

function comparesUnits(points: readonly Point[]): boolean {
  return points.some(({ before }) => before != null)
}

/** Round values at even distances that enclose two others. */
function linesOf(least: number, most: number): number[] {
  const rough = (most - least) / MAX_LINES
  const power = 10 ** Math.floor(Math.log10(rough))
  // Counts are whole numbers.
  const step = Math.max(1, [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= rough)!)
  const first = Math.floor(least / step)
  const last = Math.ceil(most / step)
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function shape(name: string, attributes: Record<string, string | number>, ...content: (Node | string)[]): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value))
  made.append(...content)
  return made
}
