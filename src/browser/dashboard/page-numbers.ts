import { keepPeriodInLinks, listOf, readView, type View, writeView } from './address.ts'
import { KEEPS_TRYING, messageOf } from './api-error.ts'
import { startChartCard } from './chart-card.ts'
import { showChange, showCount } from './counts.ts'
import { byId, setText, unitOf } from './elements.ts'
import { showLive, showNotLive } from './live-state.ts'
import { askNumbers, type Numbers, numbersQuery, type TypeNumbers, takeIncluded } from './numbers.ts'
import { showFigures, startPeriodChoice } from './period-tiles.ts'
import { type Outcome, poll } from './polling.ts'

const EVERY_MS = 30_000
/** The longest pause: a page that is open shows what was counted a minute after its roll-up at the latest. */
const AT_MOST_MS = 60_000
/** The shortest time between two announcements of what nobody asked for. */
const ANNOUNCE_MS = 120_000

interface NumbersPage<N extends Numbers> {
  refresh(): void
  /** Shows another view, and puts it into the address. */
  change(view: Partial<View>): void
  showRows(rows: number): void
  /** Reads the numbers with another number of rows, without showing them. @throws {ApiError} */
  ask(rows: number, view?: Partial<View>): Promise<N>
}

interface PageParts<N extends Numbers> {
  type: string
  key?: string
  /** The rows of the list at first. Default: 10. */
  rows?: number
  /** Shows what the page has besides figures and chart. `asked`: whether a button or a link asked for it. */
  show(numbers: N, view: View, asked: boolean): void
}

/** Keeps a page's numbers up to date. The address names the view; until its numbers arrive, the old ones are dimmed. */
export function startNumbers<N extends Numbers>({
  type,
  key,
  rows = 10,
  show: showMore,
}: PageParts<N>): NumbersPage<N> {
  const [of, ofAlso] = [unitOf(document.querySelector('main')!), unitOf(byId('period'))]
  const showCard = startChartCard({ name: key === undefined ? type : `${type}-${key}`, of, ofAlso, change })
  let view = readView()
  // The query and the numbers on the page.
  let shown = ''
  let latest: N | undefined
  let announcedAt = 0

  const about = { type, ...(key !== undefined && { key }) }
  const query = () => numbersQuery(about, view, rows)
  const show = (numbers: N, of: string): Outcome => {
    const asked = of !== shown
    showLive((numbers as Partial<TypeNumbers>).recent)
    setText('history-message', '')
    busy(false)
    if (!asked && JSON.stringify(numbers) === JSON.stringify(latest)) return 'unchanged'
    showFigures(numbers, ofAlso)
    const sum = showCard(numbers, view)
    setText('history-note', view.period === 'all' ? adjustedNote(numbers) : '')
    showMore(numbers, view, asked && shown !== '')
    // Rarely: a page that changes every minute would never be silent.
    const now = Date.now()
    if (shown !== '' && (asked || now - announcedAt >= ANNOUNCE_MS)) {
      setText('announcement', sum)
      announcedAt = now
    }
    shown = of
    latest = numbers
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
    if (listOf(next) !== listOf(view)) rows = 10
    view = next
    pressPeriod(view)
    if (query() !== shown) busy(true)
    // Without new numbers, the chart may show others of them.
    else if (latest !== undefined) showCard(latest, view)
    refresh()
  }
  function change(next: Partial<View>): void {
    const before = query()
    // Months of a week would be one bar.
    const changed = { ...view, ...(next.period !== undefined && { by: '' as const }), ...next }
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
    ask: (rows, more) => askNumbers(numbersQuery(about, { ...view, ...more }, rows)) as Promise<N>,
  }
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
