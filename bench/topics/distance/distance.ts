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
  WARM_UP_SLOTS,
  type Way,
} from './distance-variants.ts'

/** The roll-up across a slow network, and with ranges. */
export const distance: Topic = {
  name: 'distance',
  title: 'How fast is the roll-up when the database is far away, and with ranges?',
  text:
    `As \`roll-up\`, with ${LATENCIES.join(', ')} ms of network latency per statement. \`POST /v1/rollup\` moves ${number(slotsOf(ONE_RANGE))} slots of ` +
    `${number(ONE_RANGE.counters)} counters. \`SHARDING.ranges\` is ${ONE_RANGE.ranges} or ${FOUR_RANGES.ranges}, on one server in both cases. Pages of different ranges are moved side by side, ` +
    'and so are pages of the same range if a round trip takes 16 ms or longer. For comparison, a Worker with the same code sends each transaction, and each ' +
    `statement outside one, only after the previous one has ended. It moves ${number(slotsOf(SEQUENTIAL))} slots of ${number(SEQUENTIAL.counters)} counters. Before each run, hand-written SQL moves as many slots, ` +
    `so that all rows exist, and a roll-up of ${number(WARM_UP_SLOTS)} slots without latency warms up the Worker.`,
  variants: byDistance,
  columns: ['rows', 'rowsPerSecond', 'milliseconds', 'statements'],
  comparisons: [
    ...FAR.map(
      (latencyMs): Comparison => ({
        label: `slots/s with ${latencyMs} ms of latency: roll-up relative to one page after the other`,
        figure: 'rowsPerSecond',
        of: named(ONE_RANGE, latencyMs),
        to: named(SEQUENTIAL, latencyMs),
        target: { atLeast: 4 },
      }),
    ),
    ...LATENCIES.map(
      (latencyMs): Comparison => ({
        label: `slots/s with ${latencyMs} ms of latency: ${FOUR_RANGES.name} relative to ${ONE_RANGE.name}`,
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
      `with ${latencyMs} ms of latency ${rate(ONE_RANGE, latencyMs)} slots/s, compared with ${rate(SEQUENTIAL, latencyMs)} one page after the other`
    return [
      `If the database is far away, a roll-up moves several pages at the same time: ${FAR.map(bothRates).join(', and ')}.`,
      `Ranges are rolled up side by side: without latency, ${rate(FOUR_RANGES, near)} slots/s with ${FOUR_RANGES.name}, compared with ${rate(ONE_RANGE, near)} with ${ONE_RANGE.name}; ` +
        `with ${far} ms, ${rate(FOUR_RANGES, far)} and ${rate(ONE_RANGE, far)}.`,
    ]
  },
}
