import type { View } from '../../periods.ts'
import type { Unit } from '../../units.ts'
import { basePath, keepPeriodInLinks, listOf, readView, writeView } from './address.ts'
import { ask, FAILED_MS, KEEPS_TRYING, messageOf, poll } from './api.ts'
import { startChart } from './chart.ts'
import { byId, setText, unitOf } from './elements.ts'
import {
  directionOf,
  parseExactly,
  showChange,
  showClock,
  showCount,
  showDays,
  showGrowth,
  showUnits,
} from './formats.ts'
import { showLive, startHeader } from './header.ts'
import { type ChartNumbers, type Compared, type Count, type Numbers, TIME_ZONE } from './numbers-answer.ts'

/** The rows of a list at first. */
export const ROWS = 10
/** The pauses between two requests, in milliseconds: after a change, and while nothing changes. */
const [CHANGED_MS, SAME_MS] = [30_000, 60_000]
/** The shortest time between two announcements of what nobody asked for. */
const ANNOUNCE_MS = 120_000
const DAY_MS = 86_400_000

/** For what numbers were asked. `isNew`: a button or a link has changed it. */
export interface Asked {
  view: View
  rows: number
  isNew: boolean
}

/** Keeps a page's numbers up to date. The address names the view; until its numbers arrive, the old ones are dimmed. */
export function startNumbers<N extends Numbers>(
  about: { type: string; key?: string },
  showMore: (numbers: N, asked: Asked) => void,
  rows = ROWS,
) {
  const main = byId('main')
  const [of, ofAlso] = [unitOf(main), unitOf(byId('period'))]
  // Public pages name their own source.
  const source = main.dataset.numbers ?? `${basePath()}/numbers`
  const showCard = startChartCard(Object.values(about).join('-'), [of, ofAlso], change)
  let view = readView()
  // The query and the numbers on the page.
  let shown = ''
  let latest: N | undefined
  let announcedAt = 0

  const query = () => queryOf(about, view, rows)
  const askFor = (query: string) => ask<N>('GET', `${source}?${query}`)
  const show = (numbers: N, of: string): number => {
    const asked = of !== shown
    showLive(true)
    setText('history-message', '')
    busy(false)
    if (!asked && JSON.stringify(numbers) === JSON.stringify(latest)) return SAME_MS
    showFigures(numbers, ofAlso)
    const sum = showCard(numbers, view)
    setText('history-note', view.period === 'all' ? adjustedNote(numbers) : '')
    showMore(numbers, { view, rows, isNew: asked && shown !== '' })
    // Rarely: a page that changes every minute would never be silent.
    const now = Date.now()
    if (shown !== '' && (asked || now - announcedAt >= ANNOUNCE_MS)) {
      setText('announcement', sum)
      announcedAt = now
    }
    shown = of
    latest = numbers
    return CHANGED_MS
  }

  const work = async (): Promise<number> => {
    const wanted = query()
    if (wanted !== shown) busy(true)
    try {
      const numbers = await askFor(wanted)
      // If the visitor has chosen another view meanwhile, a later request is under way.
      return wanted === query() ? show(numbers, wanted) : CHANGED_MS
    } catch (error) {
      if (wanted !== query()) return FAILED_MS
      showLive(false)
      setText('history-message', messageOf(error, KEEPS_TRYING))
      // The numbers on the page are those of another view, and stay dimmed.
      byId('history').ariaBusy = 'false'
      return FAILED_MS
    }
  }

  // Before the list is filled: its links have the period.
  keepPeriodInLinks(view)
  const included = rows === ROWS ? includedNumbers<N>() : null
  if (included !== null) show(included, query())
  else busy(true)
  const pressPeriod = startPeriodChoice(change)
  pressPeriod(view)
  const refresh = poll(work, included === null ? 0 : CHANGED_MS)

  function apply(next: View): void {
    if (listOf(next) !== listOf(view)) rows = ROWS
    view = next
    keepPeriodInLinks(view)
    pressPeriod(view)
    if (query() !== shown) busy(true)
    // Without new numbers, the chart may show others of them.
    else if (latest !== undefined) showCard(latest, view)
    refresh()
  }
  function change(next: Partial<View>, how: 'pushState' | 'replaceState' = 'pushState'): void {
    // Months of a week would be one bar.
    const changed = { ...view, ...(next.period !== undefined && { by: '' as const }), ...next }
    writeView(changed, how)
    if (JSON.stringify(changed) !== JSON.stringify(view)) apply(changed)
  }
  addEventListener('popstate', () => apply(readView()))
  startHeader()
  return {
    refresh,
    change,
    showRows(wanted: number) {
      rows = wanted
      refresh()
    },
    /** Reads the numbers with another number of rows, without showing them. @throws {ApiError} */
    ask: (rows: number) => askFor(queryOf(about, view, rows)),
  }
}

/** The numbers that the page includes, for its address; `null` if it has none, or those of another time zone. */
function includedNumbers<N extends Numbers>(): N | null {
  const holder = document.getElementById('numbers')
  return holder?.dataset.zone === TIME_ZONE ? (parseExactly(holder.textContent) as N) : null
}

function queryOf(about: { type: string; key?: string }, { show, ...view }: View, rows: number): string {
  const shown = { ...view, tz: TIME_ZONE, rows: rows === ROWS ? '' : String(rows) }
  const given = Object.entries(shown).filter(([, value]) => value !== '')
  return new URLSearchParams({ ...about, ...Object.fromEntries(given) }).toString()
}

/** Why the chart of all time does not add up to the total. */
function adjustedNote({ total, chart }: Numbers): string {
  const adjusted = BigInt(total) - BigInt(chart.count)
  if (adjusted === 0n) return ''
  return `With ${showChange(adjusted)} that were set or imported without a day, the total is ${showCount(total)}.`
}

function busy(is: boolean): void {
  for (const part of document.querySelectorAll('.follows-period')) part.classList.toggle('stale', is)
  byId('history').ariaBusy = String(is)
}

/**
 * Starts the card with the chart: its head, and the choice of units and counts. Public pages cannot show other days.
 * @returns shows numbers, and tells what the head says of them
 */
function startChartCard(
  name: string,
  [of, ofAlso]: readonly [Unit, Unit],
  change: (view: Partial<View>) => void,
): (numbers: Numbers, view: View) => string {
  const units = document.querySelector<HTMLSelectElement>('#chart-by')
  const choice = document.querySelector<HTMLSelectElement>('#chart-shown')
  const showChart = startChart(name, units === null ? undefined : (from, to) => change({ period: 'custom', from, to }))
  let usual = 'day'
  units?.addEventListener('change', () => change({ by: (units.value === usual ? '' : units.value) as View['by'] }))
  choice?.addEventListener('change', () => change({ show: choice.value as View['show'] }))
  return ({ chart: numbers, adjustments = [] }, { period, show }) => {
    const { by, count, first, last, also } = numbers
    const shown = also === undefined ? '' : show
    usual = period === '12m' ? 'month' : 'day'
    // One day or two have hours, and all time has months.
    choose(units, by, by !== 'hour' && period !== 'all')
    choose(choice, shown, also !== undefined)
    const days = showDays(first, last)
    const sums = [
      ...(shown === 'also' ? [] : [showUnits(count, of)]),
      ...(shown === '' ? [] : [showUnits(also!.count, ofAlso)]),
    ].join(', ')
    setText('history-days', days)
    setText('history-sum', sums)
    const compared = shown === 'also' ? { ...numbers, ...also! } : numbers
    showGrowthOf('history-change', compared, against(numbers))
    showChart({ ...numbers, of, ofAlso, shown, sums, adjustments })
    return `${days}: ${sums}`
  }
}

function choose(select: HTMLSelectElement | null, value: string, isPossible: boolean): void {
  if (select === null) return
  select.hidden = !isPossible
  select.value = value
}

/** What the change is against, in words. Its title has the exact hours. */
function against({ first, beforeFirst, until }: ChartNumbers): string {
  if (beforeFirst === null) return ''
  // Only months are compared with the same date of another year.
  if (first.slice(4) === beforeFirst.slice(4)) return ' against the same months, a year earlier'
  const days = (Date.parse(first) - Date.parse(beforeFirst)) / DAY_MS
  if (days % 7 === 0) return ` against the same weekdays, ${days === 7 ? 'a week' : `${days / 7} weeks`} earlier`
  const hours = until ? 'the same hours of ' : ''
  return ` against ${hours}${days === 1 ? 'the day' : `the ${days} days`} before`
}

/** Starts the tiles, each a period, and the panel with other days. Returns what presses the button of a view. */
function startPeriodChoice(choose: (period: Pick<View, 'period' | 'from' | 'to'>) => void): (view: View) => void {
  const buttons = byId('period').querySelectorAll<HTMLButtonElement>('button[value]')
  // Public pages have no other days.
  const other = document.querySelector<HTMLButtonElement>('#other-days')
  const form = document.querySelector<HTMLFormElement>('#days')
  const [first, last] = document.querySelectorAll<HTMLInputElement>('#days input')
  const open = (is: boolean) => {
    form?.toggleAttribute('hidden', !is)
    other?.setAttribute('aria-expanded', String(is))
  }
  for (const button of buttons) {
    button.addEventListener('click', () => choose({ period: button.value as View['period'], from: '', to: '' }))
  }
  other?.addEventListener('click', () => {
    open(form!.hasAttribute('hidden'))
    if (!form!.hidden) form!.querySelector('button')!.focus()
  })
  form?.addEventListener('input', () => last!.setCustomValidity(''))
  form?.addEventListener('submit', (event) => {
    event.preventDefault()
    const [from, to] = [first!.value, last!.value]
    last!.setCustomValidity(to < from ? 'Must not be before the first day.' : '')
    if (form.reportValidity()) choose({ period: 'custom', from, to })
  })
  return ({ period, from, to }) => {
    let among = period === 'custom'
    for (const button of buttons) {
      const isChosen = button.value === period
      button.setAttribute('aria-pressed', String(isChosen))
      among ||= isChosen && button.form !== null
    }
    other?.setAttribute('aria-pressed', String(among))
    open(among)
    if (period !== 'custom' || !first || !last) return
    first.value = from
    last.value = to
  }
}

/** Shows the figures in the tiles. @param of what the second figure of a tile counts */
function showFigures({ figures, total, also }: Numbers, of: Unit): void {
  // Pages whose type has no second figures have no places for them.
  const hasSecond = document.getElementById('also-all') !== null
  const show = (name: string, count: Count, second?: Count) => {
    setText(`figure-${name}`, showCount(count))
    if (hasSecond) setText(`also-${name}`, second === undefined ? '' : showUnits(second, of))
  }
  for (const name of Object.keys(figures) as (keyof typeof figures)[]) {
    show(name, figures[name].count, also?.figures[name].count)
    showGrowthOf(`figure-${name}-change`, figures[name])
  }
  show('all', total, also?.total)
}

/** Shows the change of a period in its color, followed by `against`, and in its title what is compared. */
function showGrowthOf(id: string, period: Compared, against = ''): void {
  const growth = showGrowth(period)
  setText(id, growth && growth + against)
  const { compared, before, until } = period
  const end = until && new Date(until)
  const isMidnight = end && end.getHours() === 0 && end.getMinutes() === 0
  const span = end ? `, both up to ${isMidnight ? 'the end of yesterday' : showClock(end)}` : ''
  byId(id).className = `growth ${directionOf(growth)}`
  byId(id).title = growth && `${showCount(compared!)} after ${showCount(before!)}${span}`
}
