import { html, raw } from 'hono/html'
import { type CounterType, capitalized } from '../../config/counter-types.ts'
import { CHART_UNITS, OTHER_PERIODS, TILES, type View, viewQuery } from '../../periods.ts'
import type { CounterNumbers, TypeNumbers } from '../../service/page-numbers.ts'
import { type Unit, withUnit } from '../../units.ts'
import { cumulated, drawAges, drawChart, drawSmall, PART_COLORS } from '../chart.ts'
import {
  type Change,
  clockOf,
  type Days,
  showAverage,
  showChange,
  showCount,
  showDays,
  showGrowth,
  showShare,
  showUnit,
} from '../english.ts'
import { currentIf, type Html, keyText } from './layout.ts'

/** What a page shows: the numbers of a type or a counter, beside those of a type that counts the same hits in another way. */
export interface Shown {
  type: CounterType
  also: CounterType | undefined
  view: View
  numbers: Omit<TypeNumbers, 'list' | 'prefix' | 'isOfType'> & Partial<Pick<CounterNumbers, 'adjustments'>>
  /** The path of the page, and what its query names beside the view. */
  path: string
  named: Record<string, string>
  /** Whether all of the view can be chosen, or, on a public page, only the period. */
  hasChoices: boolean
}

/** The address of the same page in another view. */
export function addressOf({ path, named, view }: Shown, change: Partial<View> & { csv?: 'chart' | 'list' }): string {
  const { csv, ...changed } = change
  const query = new URLSearchParams({ ...named, ...viewQuery({ ...view, ...changed }), ...(csv && { csv }) })
  return query.size === 0 ? path : `${path}?${query}`
}

/** What a link to a period changes. Months of a week would be one bar. */
const ofPeriod = (period: View['period'], from = '', to = ''): Partial<View> => ({ period, from, to, by: '', page: 0 })

/** Links to choose one of: their texts, and what they change of the view. Nothing if there are none. */
export function choices(
  shown: Shown,
  label: string,
  of: readonly (readonly [text: Html | string, change: Partial<View>, isCurrent: boolean])[],
): Html | '' {
  if (of.length === 0) return ''
  const links = of.map(([text, change, is]) => html`<a href="${addressOf(shown, change)}"${currentIf(is)}>${text}</a>`)
  return html`<nav class="choice" aria-label="${label}">${links}</nav>`
}

/** A change in words and in its color; both numbers are its title. Nothing in it needs to be escaped. @param more follows the words */
export function growth(change: Change & { until?: string | null; isNew?: boolean }, more = '') {
  const { compared, before, until, isNew } = change
  if (compared === null || before === null) return raw('<span class="growth"></span>')
  const text = isNew ? 'new' : showGrowth(change) || (compared > before ? `from ${showCount(before)}` : '')
  const end = until && (clockOf(until) === '00:00' ? 'the end of yesterday' : clockOf(until))
  const title = `${showCount(compared)} compared with ${showCount(before)}${end ? `, both up to ${end}` : ''}`
  const direction = text.startsWith('▲') ? ' up' : text.startsWith('▼') ? ' down' : ''
  const rest = text && more && `<span class="against"> ${more}</span>`
  return raw(`<span class="growth${direction}" title="${title}">${text}${rest}</span>`)
}

/** A count with its unit, and the digits in bold, as HTML. @param of its texts are HTML, too */
function withUnitOf(count: bigint, of: Unit): string {
  const digits = showCount(count)
  const text = withUnit(digits, count, of)
  return text.startsWith(digits)
    ? `<b>${digits}</b><span class="unit">${text.slice(digits.length)}</span>`
    : `<b>${text}</b>`
}

/** The periods with their figures, and the chart of the chosen one. @param more what follows the chart in its card */
export function numbersOf(shown: Shown, more: Html | '' = ''): Html {
  const { type, also, view, numbers, hasChoices } = shown
  const { chart } = numbers
  const show = shownCounts(shown)
  const sums = [
    ...(show === 'also' ? [] : [withUnit(showCount(chart.count), chart.count, type)]),
    ...(show === 'also' || show === 'both' ? [withUnit(showCount(chart.also!.count), chart.also!.count, also!)] : []),
  ].join(', ')
  const [days, compared] = [showDays(chart.first, chart.last), show === 'also' ? chart.also! : chart]
  const ages = show === 'age' ? chart.ages! : null
  const head = html`<h2 id="chart-days">${days}</h2> <span id="chart-sum">${sums}</span> ${growth(compared, against(chart))} ${show === 'also' ? '' : html`<span class="hint" id="pace">${paceText(shown)}</span>`}`
  const about = ages ? `${capitalized(type.unit)} by age` : `Chart of ${sums} by ${chart.by}, ${days}`
  const units = ages ? Math.max(...ages.map(({ counts }) => counts.length)) : chart.points.length
  return html`${tiles(shown)}
<section class="card" aria-labelledby="chart-days">
<div class="row card-head">${ages ? html`<h2 id="chart-days">${about}</h2> <span class="hint">each from its first day (UTC), as of the last roll-up</span>` : head}
${hasChoices ? countsChoice(shown) : ''}</div>
<div class="chart" id="chart" role="img" aria-label="${about}" data-units="${units}">
<svg aria-hidden="true" class="${show}">${ages ? drawAges(ages.map(({ counts }) => counts)) : drawChart({ ...chart, show })}</svg></div>
${legend(shown)}
${view.period === 'all' ? adjustedNote(numbers) : ''}
${hasChoices ? chartMenu(shown) : ''}
<details id="table"><summary>Table</summary>
<div class="scroll" id="table-rows" tabindex="0" role="region" aria-label="Numbers of the chart">${ages ? ageTable(shown, units) : table(shown)}</div>
</details>
${more}
</section>`
}

/** What the chart shows: what was asked for, unless the page does not have it. */
function shownCounts({ view: { show }, numbers: { chart } }: Shown): View['show'] {
  const { keys, ages: age, also } = chart
  return { '': chart, cumulative: chart, keys, age, also, both: also }[show] ? show : ''
}

/** The average of the whole days, and the best unit: "63 a day · best 179 on Sat 19 Sep". */
function paceText({ numbers: { chart, asOf } }: Shown): string {
  const { by, whole, points } = chart
  const [best] = unitsOf(chart).sort((a, b) => Number(b.point.count! - a.point.count!))
  const texts = whole.days > 1 ? [`${showAverage(whole.count, whole.days)} a day`] : []
  if (best !== undefined && points.length > 1 && best.point.count! > 0n) {
    const unit = by === 'day' ? '' : `${by} `
    texts.push(`best ${unit}${showCount(best.point.count!)} ${whenText(by, best.days, best.point.start, asOf)}`)
  }
  return texts.join(' · ')
}

/** "on Sat 19 Sep", "in November". */
function whenText(...unit: Parameters<typeof showUnit>): string {
  const [by, [first, last]] = unit
  return `${by === 'hour' || first === last ? 'on' : 'in'} ${showUnit(...unit)}`
}

/** What the chart shows of the counts: in its head, and on a phone, which has no room there, in its menu. */
function countsChoice(shown: Shown): Html | '' {
  const { also, numbers } = shown
  const names: Partial<Record<View['show'], string>> = {
    '': 'Total',
    ...(numbers.adjustments === undefined && { keys: 'By key' }),
    cumulative: 'Cumulative',
    ...(numbers.adjustments === undefined && { age: 'By age' }),
    ...(numbers.also && { also: also!.title, both: 'Both' }),
  }
  const of = (Object.entries(names) as [View['show'], string][]).map(([show, text]) => {
    return [text, { show }, show === shownCounts(shown)] as const
  })
  return choices(shown, 'Counts in the chart', of)
}

function tiles(shown: Shown): Html {
  const { view, also, numbers, hasChoices } = shown
  const tile = ([name, label]: [string, string]) => {
    const period = name as keyof typeof TILES
    const figureOf = ({ figures, total }: Pick<TypeNumbers, 'figures' | 'total'>) =>
      period === 'all' ? { count: total, compared: null, before: null } : figures[period]
    const figure = figureOf(numbers)
    const second = also && numbers.also && figureOf(numbers.also).count
    return html`<a class="tile" href="${addressOf(shown, ofPeriod(period))}"${currentIf(view.period === period)} id="tile-${name}"><span>${label}</span> <b>${showCount(figure.count)}</b> ${growth(figure)}${second === undefined ? '' : html` <small>${withUnit(showCount(second), second, also!)}</small>`}</a>`
  }
  return html`<nav class="tiles" aria-label="Period">${Object.entries(TILES).map(tile)}${hasChoices ? otherDays(shown) : ''}</nav>`
}

/** Other days, in a panel that opens without a script. */
function otherDays(shown: Shown): Html {
  const { view, named } = shown
  const names = Object.entries(OTHER_PERIODS) as [View['period'], string][]
  const kept = { ...named, ...viewQuery({ ...view, ...ofPeriod('30d') }) }
  const links = names.map(([name, label]) => [label, ofPeriod(name), view.period === name] as const)
  const chosen = view.period === 'custom' ? showDays(view.from, view.to) : links.find(([, , is]) => is)?.[0]
  return html`<button type="button" class="tile other" id="other-days" popovertarget="days"${currentIf(chosen !== undefined)}>${chosen ?? 'Other days'} ▾</button>
<div class="panel" id="days" popover>
${choices(shown, 'Other days', links)}
<form class="row" action="${shown.path}">${hiddenFields(kept)}
<label>From <input type="date" name="from" min="1975-01-01" required value="${view.from}"></label>
<label>to <input type="date" name="to" min="1975-01-01" required value="${view.to}"></label>
<button>Show</button>
</form>
</div>`
}

export const hiddenFields = (fields: Record<string, string>) =>
  Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)

function chartMenu(shown: Shown): Html {
  const { view } = shown
  const { by } = shown.numbers.chart
  // One day or two have hours, all time and the longest periods have months.
  const isFixed =
    by === 'hour' || view.period === 'all' || (view.period === 'custom' && view.by === '' && by === 'month')
  const units = isFixed ? [] : (Object.entries(CHART_UNITS) as [View['by'], string][])
  const usual = view.period === '12m' ? 'month' : 'day'
  const links = units.map(([unit, text]) => [text, { by: unit === usual ? '' : unit }, unit === by] as const)
  const [name] = links.find(([, , is]) => is) ?? ['Chart']
  return html`<button type="button" id="chart-options" class="quiet" popovertarget="chart-menu">${name} ▾</button>
<div class="panel" id="chart-menu" popover>${choices(shown, 'Units of the chart', links)}${countsChoice(shown)}<a href="${addressOf(shown, { csv: 'chart' })}" download>Save the chart as CSV</a></div>`
}

function legend(shown: Shown): Html | '' {
  const { type, also } = shown
  const show = shownCounts(shown)
  const entry = (text: Html | string, sign: string, fill = '') =>
    html`<li><svg width="14" height="10" class="${show}" aria-hidden="true"><path class="${sign}" d="M0 0h14v10H0z"${fill && html` fill="${fill}"`}/></svg>${text}</li>`
  const entries =
    show === 'both'
      ? [entry(type.unit, 'bars'), entry(also!.unit, 'inside')]
      : partNames(shown).map((name, nth) => entry(name, '', PART_COLORS[nth]))
  return entries.length === 0 ? '' : html`<ul class="row legend">${entries}</ul>`
}

/** The keys that the chart shows apart. */
function partNames({ type, numbers: { chart } }: Shown): Html[] {
  const { ages = [], keys = ages.map(({ key }) => key) } = chart
  return keys.map((key) => html`${key === null ? `Other ${type.keys}` : keyText(key)}`)
}

/** A row of the table. Its strings are HTML: there may be a thousand rows, and templates within templates take ten times as long. */
const rowOf = (name: string, cells: readonly string[]) => `<tr><th scope="row">${name}</th>${cells.join('')}</tr>\n`

const partCell = (count: bigint | undefined, name: Html) =>
  `<td class="number part-of">${count === undefined ? '–' : `<b>${showCount(count)}</b>`}<span class="unit"> ${name}</span></td>`

const tableOf = ([first, ...columns]: readonly (Html | string)[], rows: readonly string[]) => html`<table>
<thead><tr><th scope="col">${first}</th>${columns.map((name) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
<tbody>
${raw(rows.join(''))}</tbody></table>`

function ageTable(shown: Shown, days: number): Html {
  const names = partNames(shown)
  const rows = Array.from({ length: days }, (_, day) => {
    const cells = shown.numbers.chart.ages!.map(({ counts }, nth) => partCell(counts[day], names[nth]!))
    return rowOf(`Day ${day + 1}`, cells)
  })
  return tableOf(['Day', ...names], rows)
}

/** Why the chart of all time does not add up to the total. */
function adjustedNote({ total, chart }: Shown['numbers']): Html | '' {
  const adjusted = total - chart.count
  if (adjusted === 0n) return ''
  return html`<p class="hint" id="adjusted-note">The total of ${showCount(total)} includes ${showChange(adjusted)} set or imported without a day.</p>`
}

const DAY_MS = 86_400_000

/** What the change of a chart is against, in words. Its title has the exact hours. */
function against({ first, last, beforeFirst }: TypeNumbers['chart']): string {
  if (beforeFirst === null) return ''
  // Only months are compared with the same date of another year.
  if (first.slice(4) === beforeFirst.slice(4)) return 'against the same months a year earlier'
  const weeks = (Date.parse(first) - Date.parse(beforeFirst)) / (7 * DAY_MS)
  const days = last === first ? 'the same weekday' : 'the same weekdays'
  return `against ${days} ${weeks === 1 ? 'a week' : `${weeks} weeks`} earlier`
}

/** The units of the chart with their counts, from which the script makes its tip. */
function table(shown: Shown): Html {
  const { type, also, numbers, hasChoices } = shown
  const { chart, asOf } = numbers
  const show = shownCounts(shown)
  const units = unitsOf(numbers.chart)
  const names = partNames(shown)
  const sums = cumulated(chart.points)
  if (show === 'cumulative') names.push(html`Cumulative`)
  const hasBefore = units.some(({ change: { before } }) => before !== null)
  const [unit, unitBeside] = [escaped(type), numbers.also && escaped(also!)]
  const cell = (count: bigint | null | undefined, of: Unit) =>
    `<td class="number">${count == null ? '–' : withUnitOf(count, of)}</td>`
  const address = addressOf(shown, ofPeriod('custom'))
  const linked = String(html`${address}${address.includes('?') ? '&' : '?'}`)
  const rows = units.map(({ point, days, isRunning, change, daysBefore }, index) => {
    const { start, count, also: second, parts = [sums[index]!.count!] } = point
    const name = showUnit(chart.by, days, start, asOf)
    const link = `<a href="${linked}from=${days[0]}&amp;to=${days[1]}">${name}</a>`
    const when = whenText(chart.by, daysBefore, daysBefore[0] + start.slice(10), asOf)
    const before =
      change.before === null
        ? '–'
        : `${showCount(change.before)}<span class="unit"> ${when}${isRunning ? ' up to the same hour' : ''}</span>`
    return rowOf((hasChoices && chart.by !== 'hour' ? link : name) + (isRunning ? ', so far' : ''), [
      cell(count, unit),
      ...names.map((name, nth) => partCell(parts[nth], name)),
      unitBeside ? cell(second, unitBeside) : '',
      hasBefore ? `<td class="number before">${before}</td><td class="number">${growth(change)}</td>` : '',
    ])
  })
  const beside = [...(numbers.also ? [capitalized(also!.unit)] : []), ...(hasBefore ? ['Previous', 'Change'] : [])]
  return tableOf([capitalized(chart.by), capitalized(type.unit), ...names, ...beside], rows)
}

const escaped = ({ unit, unitOne }: Unit): Unit => ({
  unit: String(html`${unit}`),
  unitOne: unitOne && String(html`${unitOne}`),
})

/** The units of a chart that have begun, with their days, and what of them is compared. */
function unitsOf(chart: TypeNumbers['chart']) {
  const { points, running, last } = chart
  const dayBefore = earlierDay(chart)
  return points.flatMap((point, index) => {
    if (point.count === null) return []
    const first = point.start.slice(0, 10)
    const next = points[index + 1]?.start.slice(0, 10)
    const end = next === undefined ? last : dayAfter(next, -1)
    // Hours: the next one begins on the same day.
    const days: Days = [first, end < first ? first : end]
    const daysBefore: Days = [dayBefore(days[0]), dayBefore(days[1])]
    return [{ point, days, daysBefore, isRunning: index === running, change: changeOf(chart, index) }]
  })
}

/** What of a unit is compared: of one that is not over, up to the last full hour, as of the whole period. */
function changeOf(chart: TypeNumbers['chart'], index: number): Change {
  const { points, running, until, compared, before } = chart
  const point = points[index]!
  if (point.before == null) return { compared: null, before: null }
  if (index !== running) return { compared: point.count, before: point.before }
  // Before its first full hour is over, nothing can be compared.
  const hasFullHour = until !== null && new Date(until) > new Date(point.start)
  if (!hasFullHour || compared === null || before === null) return { compared: null, before: null }
  const rest = (whole: bigint, part: 'count' | 'before') =>
    points.slice(0, index).reduce((left, point) => left - (point[part] ?? 0n), whole)
  return { compared: rest(compared, 'count'), before: rest(before, 'before') }
}

/** Finds the day that is compared with another: of months, in the year before. */
function earlierDay({ first, beforeFirst }: TypeNumbers['chart']): (day: string) => string {
  const before = beforeFirst ?? first
  if (before.slice(4) === first.slice(4)) {
    const years = Number(before.slice(0, 4)) - Number(first.slice(0, 4))
    return (day) => `${Number(day.slice(0, 4)) + years}${day.slice(4)}`
  }
  const days = (Date.parse(before) - Date.parse(first)) / DAY_MS
  return (day) => dayAfter(day, days)
}

const dayAfter = (day: string, days: number) => new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

/** The list of a type's counters. @param linkOf the address that a row opens, if any */
export function listOf(
  shown: Shown,
  list: TypeNumbers['list'],
  also: CounterType | undefined,
  linkOf: (row: TypeNumbers['list']['counters'][number]) => string | undefined,
): Html {
  const { type, view, hasChoices } = shown
  const { count: total, whole, until } = shown.numbers.chart
  const heading = (text: string, name: string, sort: View['sort']) => {
    const order = view.sort === sort ? raw(' aria-sort="descending"') : ''
    const link = html`<a href="${addressOf(shown, { sort, page: 0 })}">${text}</a>`
    return html`<th scope="col" class="number ${name}"${order}>${hasChoices ? link : text}</th>`
  }
  const most = list.counters.reduce((most, { count }) => (count > most ? count : most), 1n)
  const rows = list.counters.map((row) => {
    const [href, key] = [linkOf(row), keyText(row.key)]
    const cell = href === undefined ? html`<span>${key}</span>` : html`<a class="whole" href="${href}">${key}</a>`
    const part = row.count <= 0n ? 0 : Number((row.count * 1_000n) / most) / 10
    return html`<tr><th scope="row"><svg class="part" width="${part}%" aria-hidden="true"><rect width="100%" height="100%"/></svg>${cell}</th><td class="number small-chart">${row.points && drawSmall(row.points)}</td><td class="number count">${showCount(row.count)}</td>${also ? html`<td class="number also">${row.also === undefined ? '' : showCount(row.also)}</td>` : ''}<td class="number wide">${showShare(row.count, total)}</td>${whole.days > 1 ? html`<td class="number wide">${showAverage(row.whole, whole.days)}</td>` : ''}<td class="number">${growth({ ...row, until })}</td></tr>\n`
  })
  return html`<table class="ranking"><thead><tr><th scope="col"><span class="hidden">${capitalized(type.keys)}</span></th><th scope="col" class="number small-chart">Over time</th>${heading(capitalized(type.unit), 'count', '')}${also ? heading(capitalized(also.unit), 'also', 'also') : ''}<th scope="col" class="number wide">Share</th>${whole.days > 1 ? html`<th scope="col" class="number wide">Per day</th>` : ''}${heading('Change', '', 'change')}</tr></thead><tbody id="top">
${rows}</tbody></table>`
}

/** What a page's last line says of its numbers. */
export function noteOf({ pending, timeZone }: Pick<Shown['numbers'], 'pending' | 'timeZone'>): string {
  const counted = pending === null ? 'As of the last roll-up, because too many hits are pending to add up.' : 'Exact.'
  return `${counted} Days begin at midnight in ${timeZone}.`
}
