import { keepPeriodInLinks, readView, type View, writeView } from './address.ts'
import { messageOf } from './api.ts'
import { Chart } from './chart.ts'
import { startChartCsv } from './csv-buttons.ts'
import { byId } from './elements.ts'
import { setText, showFigures, showGrowthOf } from './figures.ts'
import { showChange, showCount } from './format-counts.ts'
import { showDays } from './format-time.ts'
import { askNumbers, type ChartNumbers, type Numbers, numbersQuery, takeIncluded } from './numbers.ts'
import { type Outcome, poll } from './polling.ts'

const EVERY_MS = 30_000
/** The shortest time between two announcements of what nobody asked for. */
const ANNOUNCE_MS = 120_000

/** A page with numbers of a type or a counter. */
export interface NumbersPage {
  /** Asks for the numbers again. */
  refresh(): void
  /** Shows another view. Puts it into the address. */
  change(view: Partial<View>): void
  /** Asks for more rows of the list. */
  showRows(rows: number): void
}

/** What is special to a page. */
export interface PageParts<N extends Numbers> {
  type: string
  key?: string
  /** What one count is, in the plural. */
  unit: string
  /** Shows what the page has besides figures and chart. `asked`: somebody asked for it, by a button or a link. */
  show(numbers: N, view: View, asked: boolean): void
}

/**
 * Keeps the numbers of a page up to date: its figures, its chart, and what the page itself shows. The address says what is
 * shown; until that is there, what is on the page is dimmed.
 */
export function startNumbers<N extends Numbers>(page: PageParts<N>): NumbersPage {
  const { type, key, unit } = page
  const chart = new Chart()
  const keepForCsv = startChartCsv(key === undefined ? type : `${type}-${key}`)
  let view = readView()
  let rows = 10
  // The query of what is on the page, and the text by which a change is noticed.
  let shown = ''
  let last = ''
  let announcedAt = 0

  const query = () => numbersQuery({ type, ...(key !== undefined && { key }) }, view, rows)
  const show = (numbers: N, of: string): Outcome => {
    const text = JSON.stringify(numbers)
    const asked = of !== shown
    setText('history-message', '')
    busy(false)
    if (!asked && text === last) return 'unchanged'
    showFigures(numbers)
    if (numbers.also !== undefined) showFigures(numbers.also, 'also')
    const { count, first, last: end } = numbers.chart
    const days = showDays(first, end)
    setText('history-days', days)
    setText('history-sum', `${showCount(count)} ${unit}`)
    setText('history-note', view.period === 'all' ? adjustedNote(numbers) : '')
    showGrowthOf('history-change', numbers.chart, ` vs. ${earlier(numbers.chart)}`)
    chart.show({ ...numbers.chart, unit, adjustments: numbers.adjustments ?? [] })
    keepForCsv(numbers.chart)
    page.show(numbers, view, asked && shown !== '')
    // Politely and rarely: a page that changes every minute would never be silent.
    const now = Date.now()
    if (shown !== '' && (asked || now - announcedAt >= ANNOUNCE_MS)) {
      setText('announcement', `${days}: ${showCount(count)} ${unit}`)
      announcedAt = now
    }
    shown = of
    last = text
    return 'changed'
  }

  const work = async (): Promise<Outcome> => {
    const wanted = query()
    if (wanted !== shown) busy(true)
    try {
      const numbers = (await askNumbers(wanted)) as N
      // A later request is under way if somebody has chosen something else meanwhile.
      return wanted === query() ? show(numbers, wanted) : 'changed'
    } catch (error) {
      if (wanted !== query()) return 'failed'
      setText('history-message', messageOf(error))
      // What was asked for is not there, and what is there was not asked for: it stays dimmed.
      byId('history').removeAttribute('aria-busy')
      return 'failed'
    }
  }

  // Before there are more links, which have it already.
  keepPeriodInLinks(view)
  const included = takeIncluded(query()) as N | null
  if (included !== null) show(included, query())
  else busy(true)
  startPeriodChoice(change)
  pressPeriod(view)
  const refresh = poll(EVERY_MS, work, { waits: included !== null })

  function apply(next: View): void {
    view = next
    rows = 10
    pressPeriod(view)
    if (query() !== shown) busy(true)
    refresh()
  }
  function change(next: Partial<View>): void {
    const before = query()
    const changed = { ...view, ...next }
    writeView(changed)
    if (query() !== before || JSON.stringify(changed) !== JSON.stringify(view)) apply(changed)
  }
  // Somebody goes back or forward.
  addEventListener('popstate', () => {
    const next = readView()
    keepPeriodInLinks(next)
    apply(next)
  })
  return {
    refresh,
    change,
    showRows(wanted) {
      rows = wanted
      refresh()
    },
  }
}

/** How much earlier the period is that a chart compares. */
function earlier({ by, first, beforeFirst }: ChartNumbers): string {
  if (by === 'month') return 'a year earlier'
  const days = (Date.parse(first) - Date.parse(beforeFirst ?? first)) / 86_400_000
  const [length, unit] = days % 7 === 0 ? [days / 7, 'week'] : [days, 'day']
  return length === 1 ? `a ${unit} earlier` : `${length} ${unit}s earlier`
}

/** Why the chart of all time does not add up to the total. */
function adjustedNote({ total, chart }: Numbers): string {
  const adjusted = BigInt(total) - BigInt(chart.count)
  return adjusted === 0n
    ? ''
    : `With ${showChange(adjusted)} that were set or imported without a day, the total is ${showCount(total)}.`
}

/** Dims what is on the page while something else is on its way. */
function busy(is: boolean): void {
  for (const part of document.querySelectorAll('.follows-period')) part.classList.toggle('stale', is)
  if (is) byId('history').setAttribute('aria-busy', 'true')
  else byId('history').removeAttribute('aria-busy')
}

/** Starts the buttons of the period. */
function startPeriodChoice(change: NumbersPage['change']): void {
  const days = daysForm()
  for (const button of byId('period').querySelectorAll('button')) {
    button.addEventListener('click', () => {
      if (button.value === 'custom' && days !== null) {
        days.form.hidden = !days.form.hidden
        button.setAttribute('aria-expanded', String(!days.form.hidden))
        if (!days.form.hidden) days.from.focus()
      } else change({ period: button.value as View['period'], from: '', to: '' })
    })
  }
  if (days === null) return
  const { form, from, to } = days
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    to.setCustomValidity(to.value < from.value ? 'Must not be before the first day.' : '')
    if (form.reportValidity()) change({ period: 'custom', from: from.value, to: to.value })
  })
  for (const field of [from, to]) field.addEventListener('input', () => to.setCustomValidity(''))
}

function pressPeriod({ period, from, to }: View): void {
  const custom = period === 'custom'
  const days = daysForm()
  for (const button of byId('period').querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(button.value === period))
    if (button.value === 'custom') button.setAttribute('aria-expanded', String(custom))
  }
  if (days === null) return
  days.form.hidden = !custom
  if (!custom) return
  days.from.value = from
  days.to.value = to
}

/** The form for any other days. Pages for everybody do not have it. */
function daysForm(): { form: HTMLFormElement; from: HTMLInputElement; to: HTMLInputElement } | null {
  const form = document.querySelector<HTMLFormElement>('#days')
  if (form === null) return null
  const field = (name: string) => form.elements.namedItem(name) as HTMLInputElement
  return { form, from: field('from'), to: field('to') }
}
