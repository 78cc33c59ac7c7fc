import { type Chart, lineChart } from '../../report/chart.ts'
import type { Point } from '../../report/chart-points.ts'
import type { TopicResults } from '../../report/results.ts'
import { PLACEMENTS } from './loads.ts'
import { rateAt, Sizing } from './sizing.ts'

const AVERAGE = 10_000
const HOURS = 24

/** A day of a site, put together from the loads that were simulated. */
export function dayChart(results: TopicResults): Chart {
  const sizing = new Sizing({ scale: results })
  const hours = Array.from({ length: HOURS + 1 }, (_, hour) => hour)
  const series = [
    ['hits', (rate: number) => rate],
    ...PLACEMENTS.map(
      (placement) =>
        [
          `statements with hits, the Worker ${placement}`,
          (rate: number) => sizing.figure(placement, 1, rate, 'hitStatementsPerSecond'),
        ] as const,
    ),
  ] as const
  const points = series.flatMap(([name, perSecond]) =>
    hours.map((hour): Point => {
      const value = perSecond(rateAt(AVERAGE, hour))
      return { variant: name, hour, series: name, median: value, low: value, high: value }
    }),
  )
  return lineChart({
    name: 'scale-day',
    alt: 'Hits and statements per second in a day with 10,000 hits a second on average',
    // What was not simulated is left out.
    points: points.filter(({ median }) => Number.isFinite(median)),
    series: { field: 'series', title: '' },
    x: { field: 'hour', title: 'hour of the day', values: [0, 6, 12, 18, 24] },
    y: { title: 'a second' },
  })
}
