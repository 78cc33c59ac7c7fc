import { lineChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import type { Comparison } from '../../report/comparison.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { number } from '../roll-up/request-roll-up.ts'
import {
  byDistance,
  FAR,
  FOUR_RANGES,
  LATENCIES,
  named,
  ONE_RANGE,
  SEQUENTIAL,
  slotsOf,
  type Way,
} from './distance-variants.ts'

/** The roll-up across a slow network, and with ranges. */
export const distance: Topic = {
  name: 'distance',
  title: 'How fast is the roll-up when the database is far away, and with ranges?',
  text:
    `As \`roll-up\`, with ${LATENCIES.join(', ')} ms of network latency, ${number(slotsOf(ONE_RANGE))} slots of ${number(ONE_RANGE.counters)} counters, and \`SHARDING.ranges\` ${ONE_RANGE.ranges} or ${FOUR_RANGES.ranges} on one server. Pages of different ` +
    'ranges are moved side by side, and so are pages of one range if a round trip takes 16 ms or longer. For comparison, a Worker with the same code sends one ' +
    `statement at a time, for ${number(slotsOf(SEQUENTIAL))} slots.`,
  variants: byDistance,
  columns: ['rows', 'rowsPerSecond', 'milliseconds', 'statements'],
  comparisons: [
    ...FAR.map(
      (latencyMs): Comparison => ({
        label: `slots/s, ${latencyMs} ms: several pages at once vs. one`,
        figure: 'rowsPerSecond',
        of: named(ONE_RANGE, latencyMs),
        to: named(SEQUENTIAL, latencyMs),
        target: { atLeast: 4 },
      }),
    ),
    ...LATENCIES.map(
      (latencyMs): Comparison => ({
        label: `slots/s, ${latencyMs} ms: ${FOUR_RANGES.name} vs. ${ONE_RANGE.name}`,
        figure: 'rowsPerSecond',
        of: named(FOUR_RANGES, latencyMs),
        to: named(ONE_RANGE, latencyMs),
        target: { atLeast: 1 },
      }),
    ),
  ],
  charts: ({ runs }) => [
    lineChart({
      name: 'distance',
      alt: 'Slots moved per second by network latency',
      points: pointsOf(byDistance, runs, 'rowsPerSecond'),
      series: { field: 'way', title: '' },
      x: { field: 'latencyMs', title: 'network latency, ms', values: LATENCIES },
      y: { title: 'slots/s' },
    }),
  ],
  findings({ runs }) {
    const rate = (way: Way, latencyMs: number) => rounded(medianOf(runs, named(way, latencyMs), 'rowsPerSecond'))
    const [near, far] = [LATENCIES[0]!, LATENCIES.at(-1)!]
    const bothRates = (latencyMs: number) =>
      `with ${latencyMs} ms of latency ${rate(ONE_RANGE, latencyMs)} slots/s instead of ${rate(SEQUENTIAL, latencyMs)}`
    return [
      `If the database is far away, a roll-up moves several pages at once: ${FAR.map(bothRates).join(', and ')}.`,
      `Ranges help near the database: ${rate(FOUR_RANGES, near)} slots/s with ${FOUR_RANGES.name} instead of ${rate(ONE_RANGE, near)} with ${ONE_RANGE.name}. With ${far} ms, there are ` +
        `${rate(FOUR_RANGES, far)} and ${rate(ONE_RANGE, far)}.`,
    ]
  },
}
