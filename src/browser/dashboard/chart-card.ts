import type { View } from './address.ts'
import { Chart } from './chart.ts'
import { showUnits, type Unit } from './counts.ts'
import { setText } from './elements.ts'
import { showDays } from './format-time.ts'
import type { ChartNumbers, Numbers } from './numbers.ts'
import { showGrowthOf } from './period-tiles.ts'

const DAY_MS = 86_400_000

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
  const chart = new Chart(name, units === null ? undefined : (from, to) => change({ period: 'custom', from, to }))
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
    showGrowthOf('history-change', compared, against(numbers))
    chart.show({ ...numbers, of, ofAlso, shown, sums, adjustments })
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
  const hours = until === null ? '' : 'the same hours of '
  return ` against ${hours}${days === 1 ? 'the day' : `the ${days} days`} before`
}
