import { barPath, gridLines, tenths } from '../../chart-shapes.ts'
import { type ChartData, daysOf, tipLines } from './chart-tip.ts'
import { byId, element, numberCell, saveCsv, shape } from './elements.ts'
import { onFirstUse, showCount, showDays, showOnAxis, showShort, showUnit } from './formats.ts'
import type { By, Count, Point } from './numbers-answer.ts'

// Lengths are in pixels. `BOTTOM` is that of the axis with its labels, `CHARACTER` the estimated width of a letter.
const [HEIGHT, TOP, BOTTOM, TIP_GAP, CHARACTER] = [226, 8, 28, 6, 8]
/** The widest bar, how much of its place a bar fills, and how much of it one within it. */
const [MAX_BAR, BAR_PART, INNER_PART] = [48, 0.75, 0.6]
/** In narrower places, bars touch each other, and weekends cannot be seen. */
const MIN_GAP_PLACE = 5
/** The narrowest band behind a bar. */
const MIN_BAND = 3
/** The most days that are labelled by Mondays; with more, by months. */
const MAX_MONDAYS = 130

/**
 * Starts the page's chart with its tip, its legend and its table, and returns what shows numbers. For assistive technology it is a
 * slider, whose value is the unit with the tip: so it gets the arrow keys, and says each unit.
 * @param name the beginning of the name of the file with its numbers
 * @param open shows the days of a unit; without it, units do not open
 */
export function startChart(name: string, open?: (first: string, last: string) => void): (data: ChartData) => void {
  const holder = byId('history')
  const tip = element('div', { class: 'tip', hidden: '' })
  let data: ChartData | undefined
  // Read before the page changes, which would force another layout.
  let width = holder.clientWidth
  /** Where the first point begins, and the width of each, in pixels. */
  let [left, place] = [0, 1]
  /** The index of the point with the tip, and of the one that had it before the pointer went down. */
  let at: number | undefined
  let atBefore: number | undefined

  /** The index of the last point that is not still to come. */
  const lastIndex = () => data?.points.findLastIndex(({ count }) => count !== null) ?? -1

  /** The index of the point under a pointer, if it has a count. */
  const under = ({ clientX }: MouseEvent): number | undefined => {
    const index = Math.floor((clientX - holder.getBoundingClientRect().left - left) / place)
    return index >= 0 && index <= lastIndex() ? index : undefined
  }

  const draw = () => {
    if (data === undefined || width === 0) return
    const drawn = drawingOf(data, width)
    left = drawn.left
    place = drawn.place
    holder.replaceChildren(drawn.drawing, tip)
  }

  /** Shows the tip of a point, and a band behind its bar. */
  const select = (index: number | undefined) => {
    at = index
    tip.hidden = index === undefined
    if (data === undefined) return
    const bandWidth = Math.max(place, MIN_BAND)
    const start = left + place * (index ?? 0)
    const band = holder.querySelector('.band')
    band?.setAttribute('x', String(tenths(start + (place - bandWidth) / 2)))
    band?.setAttribute('width', String(index === undefined ? 0 : tenths(bandWidth)))
    const lines = tipLines(data, index ?? lastIndex()).map((line) => element('div', {}, ...line))
    // Triangles have no names that are read well.
    const text = lines.map(({ textContent }) => textContent.replace('▲', 'up').replace('▼', 'down')).join(', ')
    Object.assign(holder, { ariaValueMax: lastIndex(), ariaValueNow: index ?? lastIndex(), ariaValueText: text })
    if (index === undefined) return
    tip.replaceChildren(...lines)
    const room = width - tip.offsetWidth
    const after = start + place + TIP_GAP
    const beside = after <= room ? after : start - TIP_GAP - tip.offsetWidth
    tip.style.left = `${Math.max(0, Math.min(beside, room))}px`
  }

  const openUnit = () => {
    if (data !== undefined && data.by !== 'hour' && at !== undefined) open?.(...daysOf(data, at))
  }

  const press = (event: KeyboardEvent) => {
    const last = lastIndex()
    const { key, altKey, ctrlKey, metaKey } = event
    if (altKey || ctrlKey || metaKey || last === -1) return
    const moves: Record<string, number> = {
      ArrowLeft: (at ?? last + 1) - 1,
      ArrowRight: (at ?? last) + 1,
      Home: 0,
      End: last,
    }
    if (key in moves) select(Math.max(0, Math.min(moves[key]!, last)))
    else if (key === 'Enter') openUnit()
    else if (key === 'Escape' && at !== undefined) select(undefined)
    else return
    event.preventDefault()
  }

  new ResizeObserver(() => {
    if (holder.clientWidth === width) return
    width = holder.clientWidth
    draw()
  }).observe(holder)
  holder.addEventListener('pointerdown', (event) => {
    atBefore = at
    select(under(event))
  })
  holder.addEventListener('pointermove', (event) => select(under(event)))
  // A finger leaves whenever it is lifted, and the tip stays.
  holder.addEventListener('pointerleave', ({ pointerType }) => pointerType === 'mouse' && select(undefined))
  holder.addEventListener('blur', () => select(undefined))
  // A first tap shows the tip, which a mouse has shown before.
  holder.addEventListener('click', (event) => under(event) === atBefore && openUnit())
  holder.addEventListener('keydown', press)
  const button = byId('history-table')
  button.addEventListener('click', () => {
    const isHidden = byId('history-numbers').toggleAttribute('hidden')
    button.setAttribute('aria-expanded', String(!isHidden))
    if (data !== undefined) fillTable(data)
  })
  byId('history-csv').addEventListener('click', () => data !== undefined && saveTable(name, data))

  return (shown) => {
    const { by, sums, first, last, points } = shown
    const start = data?.by === by && data.first === first ? data.points[at ?? -1]?.start : undefined
    data = shown
    draw()
    const same = points.findIndex((point) => point.start === start)
    select(same === -1 ? undefined : same)
    fillTable(shown)
    const keys = open === undefined || by === 'hour' ? '' : `, Enter opens a ${by}`
    const label = `Chart of ${sums} by ${by}, ${showDays(first, last)}. Arrow keys move${keys}.`
    holder.setAttribute('aria-label', label)
    byId('history-legend').replaceChildren(...legendOf(shown))
  }
}

function legendOf({ adjustments, shown, of, ofAlso }: ChartData): HTMLElement[] {
  const bar = 'M0 0h14v10H0z'
  const entries: [sign: string, d: string, text: string][] = []
  if (shown === 'both') entries.push(['bars', bar, of.unit], ['inside', bar, ofAlso.unit])
  if (adjustments.length > 0) entries.push(['adjusted', 'M7 0v10', 'set or imported'])
  return entries.map(([sign, d, text]) => {
    const size = { width: 14, height: 10, class: shown, 'aria-hidden': 'true' }
    return element('li', {}, shape('svg', size, shape('path', { class: sign, d })), text)
  })
}

function drawingOf(data: ChartData, width: number): { drawing: SVGElement; left: number; place: number } {
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
  const place = (width - left) / points.length
  const bar = place < MIN_GAP_PLACE ? place : Math.min(place * BAR_PART, MAX_BAR)
  const x = (index: number) => left + place * index
  const middle = (index: number) => tenths(x(index) + place / 2)
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
    ({ start }, index) => shadesWeekends && weekend().includes(weekday(start)) && `M${tenths(x(index))} ${TOP}${shade}`,
  )
  const adjusted = adjustments
    .map(({ at }) => points.findLastIndex(({ start }) => new Date(start) <= new Date(at)))
    .map((index) => (index === -1 ? '' : `M${middle(index)} ${TOP}V${floor}`))
    .join('')
  const hatch = { id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' }
  const path = (name: string, d: string, more = {}) => (d === '' ? [] : [shape('path', { class: name, d, ...more })])
  const size = { width: width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}` }
  const drawing = shape(
    'svg',
    { ...size, class: shown, 'aria-hidden': 'true' },
    shape('pattern', hatch, shape('rect', { width: 2.5, height: 6 })),
    ...path('weekends', weekends),
    shape('rect', { class: 'band', y: TOP, width: 0, height: floor - TOP }),
    ...lines.flatMap((line) => path(line === 0 ? 'grid zero' : 'grid', `M${left} ${y(line)}H${width}`)),
    ...lines.map((line, at) => shape('text', { x: left - 8, y: y(line) + 4, 'text-anchor': 'end' }, labels[at]!)),
    ...path('bars', bars),
    ...path('now', now, { fill: 'url(#hatch)' }),
    ...path('inside', inside),
    ...path('previous', dashes),
    ...path('adjusted', adjusted),
    ...axisLabels(points, by, place).flatMap(({ index, text }) => {
      const half = (text.length * CHARACTER) / 2
      if (middle(index) + half > width + 4) return []
      return [shape('text', { x: Math.max(half, middle(index)), y: HEIGHT - 6, 'text-anchor': 'middle' }, text)]
    }),
  )
  return { drawing, left, place }
}

const numberOf = (count: Count | null | undefined) => (count == null ? null : Number(count))
const countOf = ({ count }: Point) => numberOf(count)
const alsoOf = ({ also }: Point) => numberOf(also)
const beforeOf = ({ before }: Point) => numberOf(before)

/** The labels that fit: days on Mondays if not all of more than a week have room, months with the year in the place of January. */
function axisLabels(points: readonly Point[], by: By, place: number): { index: number; text: string }[] {
  const inMonths = by === 'month' || points.length > MAX_MONDAYS
  const labels = points.map(({ start }, index) => {
    const isJanuary = inMonths && start.slice(5, 7) === '01'
    const as = inMonths ? (isJanuary ? 'year' : 'month') : by === 'week' ? 'day' : by
    return { index, start, isJanuary, text: showOnAxis[as](new Date(start)) }
  })
  const room = (Math.max(...labels.map(({ text }) => text.length)) + 2) * CHARACTER
  const shown = labels.filter(({ start }) => {
    if (by === 'day' && inMonths) return start.slice(8, 10) === '01'
    return by !== 'day' || points.length <= 7 || place > room || weekday(start) === 1
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

/** Writes the numbers of the chart into its table. The rows are made when the table is seen. */
function fillTable(data: ChartData): void {
  const { columns, points } = counted(data)
  for (const name of ['before', 'also'] as const) byId(`history-${name}`).hidden = !columns.includes(name)
  const rows = (byId('history-numbers').hidden ? [] : points).map((point) => {
    const unit = element('th', { scope: 'row' }, showUnit(new Date(point.start), data.by))
    const counts = columns.map((column) => numberCell(point[column] == null ? '–' : showCount(point[column])))
    return element('tr', {}, unit, ...counts)
  })
  byId('history-rows').replaceChildren(...rows)
}

function saveTable(name: string, data: ChartData): void {
  const { columns, points } = counted(data)
  const rows = points.map((point) => [point.start, ...columns.map((column) => point[column])] as const)
  saveCsv(`${name}-${data.first}-${data.last}`, ['start', ...columns], rows)
}

function counted({ points }: ChartData) {
  const more = (['before', 'also'] as const).filter((name) => points.some((point) => point[name] != null))
  return { columns: ['count', ...more] as const, points: points.filter(({ count }) => count !== null) }
}
