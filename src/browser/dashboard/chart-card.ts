import type { View } from './address.ts'
import { Chart } from './chart.ts'
import { startChartCsv } from './csv-buttons.ts'
import { setText, showGrowthOf } from './figures.ts'
import { showUnits, type Unit } from './format-counts.ts'
import { showDays } from './format-time.ts'
import type { ChartNumbers, Numbers } from './numbers.ts'

interface CardParts {
  /** The beginning of the name of the file with the chart's numbers. */
  name: string
  of: Unit
  /** What the type counts that counts the same hits in another way. */
  ofAlso: Unit
  change(view: Partial<View>): void
}

/**
 * Starts the card with the chart: its head, the choice of units and counts, and its file. Public pages cannot show other days.
 * @returns shows numbers, and tells what the head says of them
 */
export function startChartCard({ name, of, ofAlso, change }: CardParts): (numbers: Numbers, view: View) => string {
  const units = document.querySelector<HTMLSelectElement>('#chart-by')
  const choice = document.querySelector<HTMLSelectElement>('#chart-shown')
  const chart = new Chart(units === null ? undefined : (from, to) => change({ period: 'custom', from, to }))
  const keepForCsv = startChartCsv(name)
  let usual = 'day'
  units?.addEventListener('change', () => change({ by: (units.value === usual ? '' : units.value) as View['by'] }))
  choice?.addEventListener('change', () => change({ shown: choice.value as View['shown'] }))
  return ({ chart: numbers, adjustments = [] }, { period, shown: wanted }) => {
    const { by, count, first, last, also } = numbers
    const shown = also === undefined ? '' : wanted
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
    const compared = shown === 'also' ? { ...also!, until: numbers.until } : numbers
    showGrowthOf('history-change', compared, ` vs. ${earlier(numbers)}`)
    chart.show({ ...numbers, of, ofAlso, shown, adjustments })
    keepForCsv(numbers)
    return `${days}: ${sums}`
  }
}

function choose(select: HTMLSelectElement | null, value: string, isPossible: boolean): void {
  if (select === null) return
  select.hidden = !isPossible
  select.value = value
}

/** How much earlier the period before is. */
function earlier({ by, first, beforeFirst }: ChartNumbers): string {
  if (by === 'month') return 'a year earlier'
  const days = (Date.parse(first) - Date.parse(beforeFirst ?? first)) / 86_400_000
  const [length, unit] = days % 7 === 0 ? [days / 7, 'week'] : [days, 'day']
  return length === 1 ? `a ${unit} earlier` : `${length} ${unit}s earlier`
}
