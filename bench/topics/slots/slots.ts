import { httpVariant } from '../../harness/http-variant.ts'
import type { Run } from '../../harness/variant.ts'
import { lineChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { ownKey } from '../write-strategies.ts'

const CONNECTIONS = 64
const SLOTS = [1, 4, 16, 100, 1_000]
/** Up to this number, writers queue for slots. It takes a while until the queue reaches its steady length. */
const FEW_SLOTS = 16
const COMMITS = [0, 5]
const RATES = [10, 100, 1_000, 10_000]
/** Headroom factor. With 2, each slot is busy half of the time, so writers that choose at random rarely collide. */
const HEADROOM = 2

const named = (slots: number, commitMs: number) => `${ownKey(slots).name}, ${commitMs} ms commit`
const commitOf = (commitMs: number) => `${commitMs} ms`

const variants = COMMITS.flatMap((commitMs) =>
  SLOTS.map((slots) =>
    httpVariant({
      ...ownKey(slots),
      name: named(slots, commitMs),
      connections: CONNECTIONS,
      behaviour: { commitMs },
      rampSeconds: slots <= FEW_SLOTS ? 1 : 0,
      axes: { slots, commit: commitOf(commitMs) },
    }),
  ),
)

/** Seconds for which one write locks its row: with a single slot, writers follow each other without a gap. */
function lockedFor(runs: readonly Run[], commitMs: number): number {
  return 1 / medianOf(runs, named(1, commitMs), 'perSecond')
}

const neededFor = (rate: number, locked: number) => Math.max(1, Math.ceil(HEADROOM * rate * locked))

/** How many slots are enough. */
export const slots: Topic = {
  name: 'slots',
  title: 'How many slots are enough?',
  text:
    `One key, ${CONNECTIONS} connections, our primary key, a random slot below N, one statement per request. The dashed lines are the rule: N slots, each busy half of ` +
    'the time. How long a write locks its row is measured with one slot, where writes follow each other without a gap. The product needs no N, because its ' +
    'writers do not share slots. The rule is for `slots = N` in a type’s settings, and for other implementations of the pattern.',
  seconds: 1,
  variants,
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'lockWaitsPer1000', 'deadlocksPer1000'],
  comparisons: [],
  charts({ runs }) {
    const points = pointsOf(variants, runs, 'perSecond')
    const most = Math.max(...points.map(({ high }) => high))
    const rules = COMMITS.flatMap((commitMs) => {
      const locked = lockedFor(runs, commitMs)
      if (Number.isNaN(locked)) return []
      // From one slot to the limit of the machine.
      const last = Math.min(most * HEADROOM * locked, SLOTS.at(-1)!)
      return [1, Math.max(last, 1)].map((slots) => ({
        slots,
        y: slots / (HEADROOM * locked),
        commit: commitOf(commitMs),
      }))
    })
    return [
      lineChart(
        {
          name: 'slots',
          alt: 'Requests per second by number of slots and commit latency, with the rule for choosing N',
          points,
          series: { field: 'commit', title: 'commit latency' },
          x: { field: 'slots', title: 'slots (N)', log: true, values: SLOTS },
          y: { title: 'requests/s', log: true },
        },
        rules,
      ),
    ]
  },
  findings({ runs }) {
    const locked = lockedFor(runs, 5)
    return [
      `N = ${HEADROOM} × writes per second of the busiest counter × seconds for which a write locks its row. With commits of 5 ms, ` +
        `those are ${rounded(locked * 1_000)} ms: 100 writes/s need ${neededFor(100, locked)} slots, and 1,000 need ${neededFor(1_000, locked)}.`,
      `More slots do not help: with ${CONNECTIONS} connections, 1,000 slots reach ${rounded(medianOf(runs, named(1_000, 5), 'perSecond') / medianOf(runs, named(100, 5), 'perSecond'))} times the throughput of ` +
        '100, and each read sums ten times as many rows.',
    ]
  },
  derived({ runs }) {
    return [
      {
        title: 'N by write rate',
        text: 'Slots for the writes per second of the busiest counter.',
        headings: ['commit latency', 'row locked for', ...RATES.map((rate) => `${rate.toLocaleString('en-US')}/s`)],
        rows: COMMITS.map((commitMs) => {
          const locked = lockedFor(runs, commitMs)
          return [
            commitOf(commitMs),
            `${rounded(locked * 1_000)} ms`,
            ...RATES.map((rate) => neededFor(rate, locked).toLocaleString('en-US')),
          ]
        }),
      },
    ]
  },
}
