import { keepPeriodInLinks, readView, type View, writeView } from './address.ts'
import { KEEPS_TRYING, messageOf } from './api-error.ts'
import { Chart } from './chart.ts'
import { startChartCsv } from './csv-buttons.ts'
import { byId, unitOf } from './elements.ts'
import { setText, showFigures, showGrowthOf } from './figures.ts'
import { showChange, showCount, showUnits } from './format-counts.ts'
import { showDays } from './format-time.ts'
import { askNumbers, type ChartNumbers, type Numbers, numbersQuery, takeIncluded } from './numbers.ts'
import { startPeriodChoice } from './period-choice.ts'
import { type Outcome, poll } from './polling.ts'

const EVERY_MS = 30_000
/** The longest pause: a page that is open shows what was counted a minute after its roll-up at the latest. */
const AT_MOST_MS = 60_000
const DAY_MS = 86_400_000
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
  /** Shows what the page has besides figures and chart. `asked`: whether a button or a link asked for it. */
  show(numbers: N, view: View, asked: boolean): void
}

/** Keeps a page's numbers up to date. The address names the view; until its numbers arrive, the old ones are dimmed. */
export function startNumbers<N extends Numbers>({ type, key, show: showMore }: PageParts<N>): NumbersPage {
  const chart = new Chart()
  const [unit, alsoUnit] = [unitOf(document.querySelector('main')!), unitOf(byId('period'))]
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
    setText('history-message', '')
    busy(false)
    if (!asked && text === last) return 'unchanged'
    showFigures(numbers, alsoUnit)
    const { count, first, last: end } = numbers.chart
    const days = showDays(first, end)
    setText('history-days', days)
    const sum = showUnits(count, unit)
    setText('history-sum', sum)
    setText('history-note', view.period === 'all' ? adjustedNote(numbers) : '')
    showGrowthOf('history-change', numbers.chart, against(numbers.chart))
    chart.show({ ...numbers.chart, unit, adjustments: numbers.adjustments ?? [] })
    keepForCsv(numbers.chart)
    showMore(numbers, view, asked && shown !== '')
    // Rarely: a page that changes every minute would never be silent.
    const now = Date.now()
    if (shown !== '' && (asked || now - announcedAt >= ANNOUNCE_MS)) {
      setText('announcement', `${days}: ${sum}`)
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
      setText('history-message', messageOf(error, KEEPS_TRYING))
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
  const refresh = poll(EVERY_MS, work, { waits: included !== null, atMostMs: AT_MOST_MS })

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

/** What the change is against, in words. Its title has the exact hours. */
function against({ first, beforeFirst, until }: ChartNumbers): string {
  if (beforeFirst === null) return ''
  // Only months are compared with the same date of another year.
  if (first.slice(4) === beforeFirst.slice(4)) return ' against the same months, a year earlier'
  const days = (Date.parse(first) - Date.parse(beforeFirst)) / DAY_MS
  if (days % 7 === 0) return ` against the same weekdays, ${days === 7 ? 'a week' : `${days / 7} weeks`} earlier`
  const hours = until === null ? '' : 'the same hours of '
  return ` against ${hours}${days === 1 ? 'the day' : `the ${days} days`} before`
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
