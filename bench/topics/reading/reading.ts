import { lineChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import {
  AMONG_EMPTY,
  BUSY,
  batch,
  batchReads,
  busy,
  concurrentReads,
  covering,
  exact,
  PENDING,
  ROW,
  sequentialReads,
  TOTAL,
} from './read-variants.ts'

/** The cost of reading an exact count. */
export const reading: Topic = {
  name: 'reading',
  title: 'How much does it cost to read an exact count?',
  text: 'One key is read repeatedly through the Worker, and every count is checked. The ratios are of median latencies.',
  missed:
    'The server sums every pending slot, and an index that covers the sum makes large flushes slower. ' +
    '1,000 keys are 1,000 rows to find and decode ([notes](notes.md#reading)).',
  seconds: 1,
  variants: [...sequentialReads, ...batchReads, ...concurrentReads],
  columns: ['p50Ms', 'p99Ms', 'perSecond', 'cpuMicros'],
  comparisons: [
    {
      label: '1,000 pending slots vs. one row',
      figure: 'p50Ms',
      of: exact(1_000),
      to: ROW,
      target: { atMost: 2 },
    },
    {
      label: '1,000 pending among 1,000 empty slots vs. one row',
      figure: 'p50Ms',
      of: AMONG_EMPTY,
      to: ROW,
      target: { atMost: 2.8 },
    },
    {
      label: '1,000 pending slots: with a covering index vs. without',
      figure: 'p50Ms',
      of: covering(exact(1_000)),
      to: exact(1_000),
    },
    {
      label: 'among empty slots: with a covering index vs. without',
      figure: 'p50Ms',
      of: covering(AMONG_EMPTY),
      to: AMONG_EMPTY,
    },
    {
      label: '1,000 keys per request vs. one',
      figure: 'p50Ms',
      of: batch(1_000),
      to: batch(1),
      target: { atMost: 16 },
    },
  ],
  charts({ runs }) {
    const row = medianOf(runs, ROW, 'p50Ms')
    const line = Number.isNaN(row) ? [] : [1, 2_000].map((slots) => ({ slots, y: row, read: 'one row' }))
    return [
      lineChart(
        {
          name: 'reading',
          alt: 'Median latency of an exact read by number of slots',
          points: pointsOf(sequentialReads, runs, 'p50Ms').filter(({ slots }) => slots !== undefined),
          series: { field: 'read', title: 'read' },
          x: { field: 'slots', title: 'slots summed', log: true, values: PENDING },
          y: { title: 'median, ms' },
        },
        line,
      ),
    ]
  },
  findings({ runs }) {
    const ms = (variant: string) => rounded(medianOf(runs, variant, 'p50Ms'))
    const perSecond = (variant: string) => medianOf(runs, busy(variant), 'perSecond')
    return [
      `Read exact counts by default: ${ms(exact(10))} ms for 10 pending slots, ${ms(exact(1_000))} ms for 1,000, and ${ms(ROW)} ms for a plain row.`,
      `Read many keys in one request (1,000 in ${ms(batch(1_000))} ms), and use \`?consistency=rolled\` (${ms(TOTAL)} ms) where a minute’s delay is acceptable.`,
      `With ${BUSY} connections, reads share queries: ${rounded(perSecond(exact(100)))} exact reads/s of 100 pending slots, ${rounded(perSecond(ROW))} of one row.`,
    ]
  },
}
