import { barPath, gridLines, tenths } from '../../chart-shapes.ts'
import { type ChartData, daysOf, tipLines } from './chart-tip.ts'
import { type Count, onFirstUse, showCount, showShort } from './counts.ts'
import { saveCsv } from './csv-buttons.ts'
import { byId, element, numberCell, shape } from './elements.ts'
import { showDays, showOnAxis, showUnit } from './format-time.ts'
import type { By, Point } from './numbers.ts'

const HEIGHT = 226
const TOP = 8
/** The height of the axis with its labels. */
const BOTTOM = 28
/** The widest bar, and how much of its place a bar fills. */
const MAX_BAR = 48
const BAR_PART = 0.75
/** In narrower places, bars touch each other, and weekends cannot be seen. */
const MIN_GAP_PLACE = 5
/** Of bars within others. */
const INNER_PART = 0.6
const TIP_GAP = 6
/** The narrowest band behind a bar. */
const MIN_BAND = 3
/** The estimated width of a letter, in pixels. */
const CHARACTER = 8
/** The most days that are labelled by Mondays; with more, by months. */
const MAX_MONDAYS = 130

/**
 * The page's chart with its tip, its legend and its table. Pointer, touch and keys move the tip. For assistive technology the chart
 * is a slider, whose value is the unit with the tip: so it gets the arrow keys, and says each unit.
 */
export class Chart {
  readonly #holder = byId('history')
  readonly #tip = element('div', { class: 'tip', hidden: '' })
  readonly #table: ChartTable
  readonly #open: ((first: string, last: string) => void) | undefined
  #data: ChartData | undefined
  /** Where the first point begins, and the width of each, in pixels. */
  #left = 0
  #place = 1
  /** The index of the point with the tip. */
  #at: number | undefined
  /** The one that had it before the pointer went down. */
  #atBefore: number | undefined
  // Read before the page changes, which would force another layout.
  #width = this.#holder.clientWidth

  /**
   * @param name the beginning of the name of the file with its numbers
   * @param open shows the days of a unit; without it, units do not open
   */
  constructor(name: string, open?: (first: string, last: string) => void) {
    this.#table = new ChartTable(name)
    this.#open = open
    new ResizeObserver(() => {
      const width = this.#holder.clientWidth
      if (width === this.#width) return
      this.#width = width
      this.#draw()
    }).observe(this.#holder)
    const on = <Name extends keyof HTMLElementEventMap>(name: Name, act: (event: HTMLElementEventMap[Name]) => void) =>
      this.#holder.addEventListener(name, act)
    on('pointerdown', (event) => {
      this.#atBefore = this.#at
      this.#select(this.#under(event))
    })
    on('pointermove', (event) => this.#select(this.#under(event)))
    // A finger leaves whenever it is lifted, and the tip stays.
    on('pointerleave', ({ pointerType }) => pointerType === 'mouse' && this.#select(undefined))
    on('blur', () => this.#select(undefined))
    // A first tap shows the tip, which a mouse has shown before.
    on('click', (event) => this.#under(event) === this.#atBefore && this.#openUnit())
    on('keydown', (event) => this.#press(event))
  }

  show(data: ChartData): void {
    const old = this.#data
    const start = old?.by === data.by && old.first === data.first ? old.points[this.#at ?? -1]?.start : undefined
    this.#data = data
    this.#draw()
    const at = start === undefined ? -1 : data.points.findIndex((point) => point.start === start)
    this.#select(at === -1 ? undefined : at)
    this.#table.show(data)
    const { by, sums, first, last } = data
    const keys = this.#open === undefined || by === 'hour' ? '' : `, Enter opens a ${by}`
    const label = `Chart of ${sums} by ${by}, ${showDays(first, last)}. Arrow keys move${keys}.`
    this.#holder.setAttribute('aria-label', label)
    this.#legend(data)
  }

  #legend({ points, adjustments, shown, of, ofAlso }: ChartData): void {
    const entries: [sign: string, text: string][] = []
    if (shown === 'both') entries.push(['outer', of.many], ['inner', ofAlso.many])
    if (points.some(({ imported }) => imported)) entries.push(['imported', 'has imported counts'])
    if (adjustments.length > 0) entries.push(['adjusted', 'set or imported'])
    const items = entries.map(([sign, text]) => element('li', {}, element('i', { class: `sign ${sign}` }), text))
    byId('history-legend').replaceChildren(...items)
  }

  #draw(): void {
    const data = this.#data
    if (data === undefined || this.#width === 0) return
    const { points, by, running, adjustments, shown } = data
    const main = shown === 'also' ? alsoOf : countOf
    const before = shown === 'also' ? () => null : beforeOf
    const values = points.flatMap((point) => [main(point), before(point)]).filter((value) => value !== null)
    const lines = gridLines(Math.min(...values, 0), Math.max(...values, 0))
    const [least, most] = [lines[0]!, lines.at(-1)!]
    const y = (value: number) => tenths(TOP + ((most - value) / (most - least)) * (HEIGHT - TOP - BOTTOM))
    const [base, floor] = [y(0), y(least)]
    const labels = lines.map(showShort)
    const left = Math.max(...labels.map(({ length }) => length)) * CHARACTER + 12
    const place = (this.#width - left) / points.length
    const bar = place < MIN_GAP_PLACE ? place : Math.min(place * BAR_PART, MAX_BAR)
    this.#left = left
    this.#place = place
    const x = (index: number) => left + place * index
    const middle = (index: number) => tenths(x(index) + place / 2)
    /** The path of the points for which there is something to draw. */
    const drawn = (of: (point: Point, index: number) => string | false | undefined) =>
      points.map((p, i) => of(p, i) || '').join('')
    const barOf = (count: number | null, index: number, width: number) =>
      count !== null && barPath(x(index) + (place - width) / 2, width, base, y(count))
    const bars = drawn((point, index) => index !== running && barOf(main(point), index, bar))
    const now = drawn((point, index) => index === running && barOf(main(point), index, bar))
    const inside = drawn((point, index) => shown === 'both' && barOf(alsoOf(point), index, bar * INNER_PART))
    const dashes = drawn((point, index) => {
      const value = before(point)
      const pen = index === 0 || before(points[index - 1]!) === null ? 'M' : 'L'
      return value !== null && `${pen}${middle(index)} ${y(value)}`
    })
    const shadesWeekends = by === 'day' && place >= MIN_GAP_PLACE
    const shade = `h${tenths(place)}V${floor}h${-tenths(place)}z`
    const weekends = drawn(
      ({ start }, index) =>
        shadesWeekends && weekend().includes(weekday(start)) && `M${tenths(x(index))} ${TOP}${shade}`,
    )
    const adjusted = adjustments
      .map(({ at }) => points.findLastIndex(({ start }) => new Date(start) <= new Date(at)))
      .map((index) => (index === -1 ? '' : `M${middle(index)} ${TOP}V${floor}`))
      .join('')
    const imported = drawn(({ imported }, index) => imported && `M${tenths(x(index))} ${floor + 3}h${tenths(place)}`)
    const hatch = { id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' }
    const path = (name: string, d: string, more = {}) => (d === '' ? [] : [shape('path', { class: name, d, ...more })])
    const size = { width: this.#width, height: HEIGHT, viewBox: `0 0 ${this.#width} ${HEIGHT}` }
    const drawing = shape(
      'svg',
      { ...size, class: shown, 'aria-hidden': 'true' },
      shape('pattern', hatch, shape('rect', { width: 2.5, height: 6 })),
      ...path('weekends', weekends),
      shape('rect', { class: 'band', y: TOP, width: 0, height: floor - TOP }),
      ...lines.flatMap((line) => path(line === 0 ? 'grid zero' : 'grid', `M${left} ${y(line)}H${this.#width}`)),
      ...lines.map((line, at) => shape('text', { x: left - 8, y: y(line) + 4, 'text-anchor': 'end' }, labels[at]!)),
      ...path('bars', bars),
      ...path('now', now, { fill: 'url(#hatch)' }),
      ...path('inside', inside),
      ...path('halo', dashes),
      ...path('previous', dashes),
      ...path('imported', imported),
      ...path('adjusted', adjusted),
      ...axisLabels(points, by, place).flatMap(({ index, text }) => {
        const half = (text.length * CHARACTER) / 2
        if (middle(index) + half > this.#width + 4) return []
        return [shape('text', { x: Math.max(half, middle(index)), y: HEIGHT - 6, 'text-anchor': 'middle' }, text)]
      }),
    )
    this.#holder.replaceChildren(drawing, this.#tip)
  }

  /** The index of the point under a pointer, if it has a count. */
  #under({ clientX }: MouseEvent): number | undefined {
    const index = Math.floor((clientX - this.#holder.getBoundingClientRect().left - this.#left) / this.#place)
    return index >= 0 && index <= this.#last ? index : undefined
  }

  /** The index of the last point that is not still to come. */
  get #last(): number {
    return this.#data?.points.findLastIndex(({ count }) => count !== null) ?? -1
  }

  /** Shows the tip of a point, and a band behind its bar. */
  #select(index: number | undefined): void {
    const data = this.#data
    this.#at = index
    this.#tip.hidden = index === undefined
    if (data === undefined) return
    const place = this.#place
    const width = Math.max(place, MIN_BAND)
    const start = this.#left + place * (index ?? 0)
    const band = this.#holder.querySelector('.band')
    band?.setAttribute('x', String(tenths(start + (place - width) / 2)))
    band?.setAttribute('width', String(index === undefined ? 0 : tenths(width)))
    const lines = tipLines(data, index ?? this.#last).map((line) => element('div', {}, ...line))
    // Triangles have no names that are read well.
    const text = lines.map(({ textContent }) => textContent.replace('▲', 'up').replace('▼', 'down')).join(', ')
    const value = { max: this.#last, now: index ?? this.#last, text }
    for (const [name, of] of Object.entries(value)) this.#holder.setAttribute(`aria-value${name}`, String(of))
    if (index === undefined) return
    this.#tip.replaceChildren(...lines)
    const room = this.#width - this.#tip.offsetWidth
    const after = start + place + TIP_GAP
    const beside = after <= room ? after : start - TIP_GAP - this.#tip.offsetWidth
    this.#tip.style.left = `${Math.max(0, Math.min(beside, room))}px`
  }

  #press(event: KeyboardEvent): void {
    const last = this.#last
    const at = this.#at
    const { key, altKey, ctrlKey, metaKey } = event
    if (altKey || ctrlKey || metaKey || last === -1) return
    const moves: Record<string, number> = {
      ArrowLeft: (at ?? last + 1) - 1,
      ArrowRight: (at ?? last) + 1,
      Home: 0,
      End: last,
    }
    if (key in moves) this.#select(Math.max(0, Math.min(moves[key]!, last)))
    else if (key === 'Enter') this.#openUnit()
    else if (key === 'Escape' && at !== undefined) this.#select(undefined)
    else return
    event.preventDefault()
  }

  #openUnit(): void {
    const data = this.#data
    if (data === undefined || data.by === 'hour' || this.#at === undefined) return
    this.#open?.(...daysOf(data, this.#at))
  }
}

const numberOf = (count: Count | null | undefined) => (count == null ? null : Number(count))
const countOf = ({ count }: Point) => numberOf(count)
const alsoOf = ({ also }: Point) => numberOf(also)
const beforeOf = ({ before }: Point) => numberOf(before)

/**
 * The labels that fit on the axis: days on Mondays if not every day has room, months with the year in the place of January.
 * @param place the width of a unit, in pixels
 */
function axisLabels(points: readonly Point[], by: By, place: number): { index: number; text: string }[] {
  const inMonths = by === 'month' || points.length > MAX_MONDAYS
  const labels = points.map(({ start }, index) => {
    const isJanuary = inMonths && start.slice(5, 7) === '01'
    const as = inMonths ? (isJanuary ? 'year' : 'month') : by === 'week' ? 'day' : by
    return { index, start, isJanuary, text: showOnAxis(new Date(start), as) }
  })
  const room = (Math.max(...labels.map(({ text }) => text.length)) + 2) * CHARACTER
  const shown = labels.filter(({ start }) => {
    if (by === 'day' && inMonths) return start.slice(8, 10) === '01'
    return by !== 'day' || place > room || weekday(start) === 1
  })
  const every = Math.ceil((room / place) * (shown.length / points.length))
  // The year is always among them.
  const january = shown.findIndex(({ isJanuary }) => isJanuary)
  const phase = Math.max(0, january) % every
  return shown.filter((_, nth) => nth % every === phase)
}

/** The days of the weekend where the visitor's locale is used. Browsers have a method, an older property, or neither. */
const weekend = onFirstUse(() => {
  type Weekend = { weekend: readonly number[] }
  type Known = Intl.Locale & { getWeekInfo?(): Weekend; weekInfo?: Weekend }
  const locale = new Intl.Locale(Intl.DateTimeFormat().resolvedOptions().locale) as Known
  return (locale.getWeekInfo?.() ?? locale.weekInfo)?.weekend ?? [6, 7]
})

/** From 1, Monday, to 7. @param start such as 2026-11-17T00:00:00+01:00 */
const weekday = (start: string) => new Date(start.slice(0, 10)).getUTCDay() || 7

/** The numbers of the chart: a table, which a button shows, and a file, which another one saves. */
class ChartTable {
  readonly #region = byId('history-numbers')
  #data: ChartData | undefined

  /** @param name the beginning of the file's name */
  constructor(name: string) {
    const button = byId('history-table')
    button.addEventListener('click', () => {
      this.#region.hidden = !this.#region.hidden
      button.setAttribute('aria-expanded', String(!this.#region.hidden))
      this.#fill()
    })
    byId('history-csv').addEventListener('click', () => {
      if (this.#data === undefined) return
      const { first, last } = this.#data
      const { columns, points } = this.#counted(this.#data)
      saveCsv(
        `${name}-${first}-${last}`,
        ['start', ...columns],
        points.map((point) => [point.start, ...columns.map((column) => point[column])]),
      )
    })
  }

  show(data: ChartData): void {
    this.#data = data
    this.#fill()
  }

  /** The rows are made when the table is seen. */
  #fill(): void {
    if (this.#data === undefined) return
    const { by } = this.#data
    const { columns, points } = this.#counted(this.#data)
    for (const name of ['before', 'also'] as const) byId(`history-${name}`).hidden = !columns.includes(name)
    const rows = (this.#region.hidden ? [] : points).map((point) => {
      const unit = element('th', { scope: 'row' }, showUnit(new Date(point.start), by))
      const counts = columns.map((column) => numberCell(point[column] == null ? '–' : showCount(point[column])))
      return element('tr', {}, unit, ...counts)
    })
    byId('history-rows').replaceChildren(...rows)
  }

  /** The points that are not still to come, and what they have besides their count. */
  #counted({ points }: ChartData) {
    const more = (['before', 'also'] as const).filter((name) => points.some((point) => point[name] != null))
    return { columns: ['count', ...more] as const, points: points.filter(({ count }) => count !== null) }
  }
}
