import type { Run } from '../../harness/variant.ts'
import { lineChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { BREAKDOWN, readLatencyBreakdown } from './read-latency-breakdown.ts'
import {
  AMONG_EMPTY,
  BUSY,
  batch,
  batchReads,
  busy,
  concurrentReads,
  exact,
  number,
  PENDING,
  ROW,
  sequentialReads,
  TOTAL,
  WRITE_COMMIT_MS,
  WRITE_GROUP,
  WRITE_ONE_ROW,
  writes,
} from './read-variants.ts'

/** The ratio of reads to writes above which one row is cheaper than slots. Negative if slots are always cheaper. */
function breakEven(runs: readonly Run[], pending: number): number {
  const seconds = (variant: string) => 1 / medianOf(runs, variant, 'perSecond')
  const savedByWrite = seconds(WRITE_ONE_ROW) - seconds(WRITE_GROUP)
  const addedByRead = seconds(busy(exact(pending))) - seconds(busy(ROW))
  return savedByWrite / addedByRead
}

/** The cost of reading an exact count. */
export const reading: Topic = {
  name: 'reading',
  title: 'How much does it cost to read an exact count?',
  text:
    `One key is read repeatedly through the Worker, and every count is checked. The second chart follows from the throughput of reads at ${BUSY} connections, and of ` +
    `writes with commits of ${WRITE_COMMIT_MS} ms.`,
  seconds: 1,
  variants: [...sequentialReads, ...batchReads, ...concurrentReads, ...writes],
  columns: ['p50Ms', 'p99Ms', 'perSecond', 'cpuMicros'],
  comparisons: [
    {
      label: 'median ms: 1,000 pending slots vs. one row',
      figure: 'p50Ms',
      of: exact(1_000),
      to: ROW,
      target: { atMost: 1.25 },
    },
    {
      label: 'median ms: 1,000 pending among 1,000 empty slots vs. one row',
      figure: 'p50Ms',
      of: AMONG_EMPTY,
      to: ROW,
      target: { atMost: 1.5 },
    },
    {
      label: 'median ms: 10 pending slots vs. one row',
      figure: 'p50Ms',
      of: exact(10),
      to: ROW,
    },
    { label: 'median ms: total only vs. one row', figure: 'p50Ms', of: TOTAL, to: ROW },
    {
      label: 'median ms: 1,000 keys per request vs. one',
      figure: 'p50Ms',
      of: batch(1_000),
      to: batch(1),
      target: { atMost: 10 },
    },
  ],
  charts({ runs }) {
    const row = medianOf(runs, ROW, 'p50Ms')
    const line = Number.isNaN(row) ? [] : [1, 2_000].map((slots) => ({ slots, y: row, read: 'one row' }))
    const mixes = [0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999].flatMap((share) => {
      const seconds = (variant: string) => 1 / medianOf(runs, variant, 'perSecond')
      const ways: [string, string, string][] = [
        ['one row', WRITE_ONE_ROW, busy(ROW)],
        ...[1, 100, 1_000].map((pending): [string, string, string] => [
          `group commit, ${number(pending)} pending`,
          WRITE_GROUP,
          busy(exact(pending)),
        ]),
      ]
      return ways.map(([way, write, read]) => {
        const perSecond = 1 / ((1 - share) * seconds(write) + share * seconds(read))
        return { variant: way, way, share: share * 100, median: perSecond, low: perSecond, high: perSecond }
      })
    })
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
      ...(mixes.some(({ median }) => Number.isNaN(median))
        ? []
        : [
            lineChart({
              name: 'reading-mix',
              alt: 'Requests per second by share of reads, calculated from the cost of each read and write',
              points: mixes,
              series: { field: 'way', title: 'stored in' },
              x: { field: 'share', title: 'reads, % of all requests' },
              y: { title: `requests/s, ${BUSY} connections`, log: true },
            }),
          ]),
    ]
  },
  findings({ runs }) {
    const ms = (variant: string) => rounded(medianOf(runs, variant, 'p50Ms'))
    const even = breakEven(runs, 100)
    return [
      `Read exact counts by default: ${ms(exact(10))} ms for 10 pending slots, ${ms(exact(1_000))} ms for 1,000, and ${ms(ROW)} ms for a plain row.`,
      `Read many keys in one request (1,000 in ${ms(batch(1_000))} ms), and use \`?consistency=rolled\` (${ms(TOTAL)} ms) where a minute’s delay is acceptable.`,
      even > 0 || Number.isNaN(even)
        ? `With ${BUSY} connections, 100 pending slots and commits of ${WRITE_COMMIT_MS} ms, slots pay off up to ${rounded(even)} reads per write. Counters that are read more often ` +
          'should be read with `?consistency=rolled`, or be kept in one row.'
        : `With ${BUSY} connections, an exact read of 100 pending slots takes no longer than reading one row: reads share queries.`,
    ]
  },
  keptTables: [BREAKDOWN],
  once: (testbed, _, rounds) => readLatencyBreakdown(testbed, rounds),
}
