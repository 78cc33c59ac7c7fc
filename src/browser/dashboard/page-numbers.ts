import { keepPeriodInLinks, readView, type View, writeView } from './address.ts'
import { messageOf } from './api.ts'
import { Chart } from './chart.ts'
import { startChartCsv } from './csv-buttons.ts'
import { byId } from './elements.ts'
import { setText, showFigures, showGrowthOf } from './figures.ts'
import { showChange, showCount } from './format-counts.ts'
import { showDays } from './format-time.ts'
import { showLive, showNotLive } from './live-dot.ts'
import { askNumbers, type ChartNumbers, type Numbers, numbersQuery, type TypeNumbers, takeIncluded } from './numbers.ts'
import { type Outcome, poll } from './polling.ts'

const EVERY_MS = 30_000
/** The shortest time between two announcements of what nobody asked for. */
const ANNOUNCE_MS = 120_000

interface NumbersPage {
  refresh(): void
  /** Shows another view, and puts it into the address. */
  change(view: Partial<View>): void
  showRows(rows: number): void
}

interface PageParts<N extends Numbers> {
  type: string
  key?: string
  /** The plural of what is counted. */
  unit: string
  /** Shows what the page has besides figures and chart. `asked`: whether a button or a link asked for it. */
  show(numbers: N, view: View, asked: boolean): void
}

/** Keeps a page's numbers up to date. The address names the view; until its numbers arrive, the old ones are dimmed. */
export function startNumbers<N extends Numbers>({ type, key, unit, show: showMore }: PageParts<N>): NumbersPage {
  const chart = new Chart()
  const keepForCsv = startChartCsv(key === undefined ? type : `${type}-${key}`)
  let view = readView()
  let rows = 10
  // The query and the numbers on the page.
  let shown = ''
  let last = ''
  let announcedAt = 0

  const query = () => numbersQuery({ type, ...(key !== undefined && { key }) }, view, rows)
  const show = (numbers: N, of: string): Outcome => {
    const text = JSON.stringify(numbers)
    const asked = of !== shown
    showLive((numbers as Partial<TypeNumbers>).recent ?? null)
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
    showMore(numbers, view, asked && shown !== '')
    // Rarely: a page that changes every minute would never be silent.
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
      // If the visitor has chosen another view meanwhile, a later request is under way.
      return wanted === query() ? show(numbers, wanted) : 'changed'
    } catch (error) {
      if (wanted !== query()) return 'failed'
      showNotLive()
      setText('history-message', messageOf(error))
      // The numbers on the page are those of another view, and stay dimmed.
      byId('history').removeAttribute('aria-busy')
      return 'failed'
    }
  }

  // Before the list is filled: its links have the period.
  keepPeriodInLinks(view)
  const included = takeIncluded(query()) as N | null
  if (included !== null) show(included, query())
  else busy(true)
  const pressPeriod = startPeriodChoice(change)
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

/** How much earlier the period before is. */
function earlier({ by, first, beforeFirst }: ChartNumbers): string {
  if (by === 'month') return 'a year earlier'
  const days = (Date.parse(first) - Date.parse(beforeFirst ?? first)) / 86_400_000
  const [length, unit] = days % 7 === 0 ? [days / 7, 'week'] : [days, 'day']
  return length === 1 ? `a ${unit} earlier` : `${length} ${unit}s earlier`
}

/** Why the chart of all time does not add up to the total. */
function adjustedNote({ total, chart }: Numbers): string {
  const adjusted = BigInt(total) - BigInt(chart.count)
  if (adjusted === 0n) return ''
  return `With ${showChange(adjusted)} that were set or imported without a day, the total is ${showCount(total)}.`
}

function busy(is: boolean): void {
  for (const part of document.querySelectorAll('.follows-period')) part.classList.toggle('stale', is)
  if (is) byId('history').setAttribute('aria-busy', 'true')
  else byId('history').removeAttribute('aria-busy')
}

/** Starts the buttons of the period. The function that it returns presses the one of a view. */
function startPeriodChoice(change: NumbersPage['change']): (view: View) => void {
  const choice = byId('period')
  const buttons = choice.querySelectorAll('button')
  // Public pages do not have the form for other days.
  const form = document.querySelector<HTMLFormElement>('#days')
  const [first, last] = document.querySelectorAll<HTMLInputElement>('#days input')
  const open = (is: boolean) => {
    form?.toggleAttribute('hidden', !is)
    choice.querySelector('[aria-expanded]')?.setAttribute('aria-expanded', String(is))
  }
  for (const button of buttons) {
    button.addEventListener('click', () => {
      if (button.value === 'custom' && form !== null) {
        open(form.hasAttribute('hidden'))
        if (!form.hidden) first?.focus()
      } else change({ period: button.value as View['period'], from: '', to: '' })
    })
  }
  form?.addEventListener('input', () => last?.setCustomValidity(''))
  form?.addEventListener('submit', (event) => {
    event.preventDefault()
    const [from, to] = [first!.value, last!.value]
    last!.setCustomValidity(to < from ? 'Must not be before the first day.' : '')
    if (form.reportValidity()) change({ period: 'custom', from, to })
  })
  return ({ period, from, to }) => {
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.value === period))
    open(period === 'custom')
    if (period !== 'custom' || !first || !last) return
    first.value = from
    last.value = to
  }
}
