import { lineChart } from '../report/chart.ts'
import { about, medianOf, pointsOf } from '../report/points.ts'
import type { Run, Topic } from '../topic.ts'
import { readPathTable } from './read-path.ts'
import {
  AMONG_EMPTY,
  BUSY,
  batch,
  batches,
  busy,
  exact,
  loaded,
  number,
  PENDING,
  quiet,
  ROW,
  TOTAL,
  WRITE_COMMIT_MS,
  WRITE_GROUP,
  WRITE_ONE_ROW,
  writing,
} from './readings.ts'

/** How many readings per write slots stand before one row would have been cheaper. */
function breakEven(runs: readonly Run[], pending: number): number {
  const seconds = (variant: string) => 1 / medianOf(runs, variant, 'perSecond')
  const saved = seconds(WRITE_ONE_ROW) - seconds(WRITE_GROUP)
  const paid = seconds(busy(exact(pending))) - seconds(busy(ROW))
  return saved / paid
}

/** What an exact count costs to read. */
export const reading: Topic = {
  name: 'reading',
  title: 'What does an exact count cost to read?',
  text:
    'One key read again and again through the product’s Worker, on the first server, no latency added. What is pending varies, for comparison N of the ' +
    `published pattern; then the number of keys in one request. At ${BUSY} connections the same is measured as throughput, and writing with commits of ` +
    `${WRITE_COMMIT_MS} ms, to tell how many readings per write slots stand: the time that a write saves, divided by the time that a reading takes longer. Every reading is checked.`,
  seconds: 1,
  variants: [...quiet, ...batches, ...loaded, ...writing],
  columns: ['p50Ms', 'p99Ms', 'perSecond', 'cpuMicros'],
  comparisons: [
    {
      says: 'median ms: exact reading of 1,000 pending slots against one row',
      figure: 'p50Ms',
      of: exact(1_000),
      to: ROW,
      target: { atMost: 1.5 },
    },
    {
      says: 'median ms: the same beside 1,000 slots that are empty',
      figure: 'p50Ms',
      of: AMONG_EMPTY,
      to: ROW,
    },
    { says: 'median ms: exact reading of 10 pending slots against one row', figure: 'p50Ms', of: exact(10), to: ROW },
    { says: 'median ms: total only against one row', figure: 'p50Ms', of: TOTAL, to: ROW },
    { says: 'median ms: 1,000 keys at once against one', figure: 'p50Ms', of: batch(1_000), to: batch(1) },
  ],
  charts({ runs }) {
    const row = medianOf(runs, ROW, 'p50Ms')
    const line = Number.isNaN(row) ? [] : [1, 10_000].map((slots) => ({ slots, y: row, read: 'one row' }))
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
          alt: 'Median time of an exact reading by number of slots',
          points: pointsOf(quiet, runs, 'p50Ms').filter(({ slots }) => slots !== undefined),
          series: { field: 'read', title: 'reading' },
          x: { field: 'slots', title: 'slots that are summed', log: true, values: PENDING },
          y: { title: 'median, ms' },
        },
        line,
      ),
      ...(mixes.some(({ median }) => Number.isNaN(median))
        ? []
        : [
            lineChart({
              name: 'reading-mix',
              alt: 'Requests per second by the share of readings, worked out from what each takes',
              points: mixes,
              series: { field: 'way', title: 'counted in' },
              x: { field: 'share', title: 'readings, % of all requests' },
              y: { title: `requests/s, ${BUSY} connections`, log: true },
            }),
          ]),
    ]
  },
  findings({ runs }) {
    const ms = (variant: string) => about(medianOf(runs, variant, 'p50Ms'))
    const even = breakEven(runs, 100)
    return [
      `Read exactly by default: 10 pending slots take ${ms(exact(10))} ms, 1,000 take ${ms(exact(1_000))} ms, a plain row ${ms(ROW)} ms; ask for many keys at ` +
        `once (1,000 in ${ms(batch(1_000))} ms), and for \`?consistency=rolled\` (${ms(TOTAL)} ms) where a minute’s delay does not matter.`,
      even > 0 || Number.isNaN(even)
        ? `With 100 slots pending and commits of ${WRITE_COMMIT_MS} ms, slots pay until there are ${about(even)} readings per write; what is read more often than that ` +
          'should be read rolled up, or be one row.'
        : 'With 100 slots pending a reading takes no longer than one row’s: slots always pay.',
    ]
  },
  derived: ({ runs }) => [
    {
      title: 'Readings per write up to which slots pay',
      text: `From the table above: (time of a write in one row − with group commit) ÷ (time of an exact reading − of one row), commits of ${WRITE_COMMIT_MS} ms.`,
      headings: ['pending when read', 'readings per write'],
      rows: [1, 100, 1_000].map((pending) => {
        const even = breakEven(runs, pending)
        return [number(pending), Number.isNaN(even) ? '–' : even > 0 ? about(even) : 'always']
      }),
    },
  ],
  once: (rig, _, rounds) => readPathTable(rig, rounds),
}
