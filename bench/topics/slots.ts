import { httpVariant } from '../harness/http-variant.ts'
import { lineChart } from '../report/chart.ts'
import { about, medianOf, pointsOf } from '../report/points.ts'
import type { Run, Topic } from '../topic.ts'
import { ownKey } from './writers.ts'

const CONNECTIONS = 64
const SLOTS = [1, 4, 16, 100, 1_000]
/** So few that writers queue for them: it takes a while until the queue has its length. */
const FEW_SLOTS = 16
const COMMITS = [0, 2, 5]
const RATES = [10, 100, 1_000, 10_000]
/** How often a slot may be busy at most, for writers that choose at random to meet few others: half the time. */
const HEADROOM = 2

const named = (slots: number, commitMs: number) => `${ownKey(slots).name}, ${commitMs} ms commit`
const commitOf = (commitMs: number) => `${commitMs} ms commit`

const variants = COMMITS.flatMap((commitMs) =>
  SLOTS.map((slots) =>
    httpVariant({
      ...ownKey(slots),
      name: named(slots, commitMs),
      table: `Commits of ${commitMs} ms`,
      connections: CONNECTIONS,
      behaviour: { commitMs },
      rampSeconds: slots <= FEW_SLOTS ? 1 : 0,
      axes: { slots, commit: commitOf(commitMs) },
    }),
  ),
)

/** Seconds for which a row is locked by one write: with a single slot, writers follow each other without a gap. */
function lockedFor(runs: readonly Run[], commitMs: number): number {
  return 1 / medianOf(runs, named(1, commitMs), 'perSecond')
}

const neededFor = (rate: number, locked: number) => Math.max(1, Math.ceil(HEADROOM * rate * locked))

/** How many slots are enough. */
export const slots: Topic = {
  name: 'slots',
  title: 'How many slots are enough?',
  text:
    `One key, ${CONNECTIONS} connections, our primary key and a random slot below N, one statement per request, on the first server with its own isolation ` +
    `level. The number of slots and the latency of commits vary; no network latency. The dashed lines are the rule: N slots, each busy for half of the time. ` +
    'How long a write keeps its row locked is measured with one slot, where writers follow each other without a gap. The product needs no N: a writer’s slots are its ' +
    'own. This is for `slots = N` in a type’s settings, and for whoever builds the pattern elsewhere.',
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
      // From one slot to where the machine can do no more.
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
          alt: 'Answered requests per second by number of slots and latency of commits, with the rule for choosing N',
          points,
          series: { field: 'commit', title: 'database' },
          x: { field: 'slots', title: 'slots (N)', log: true, values: SLOTS },
          y: { title: 'answered/s', log: true },
        },
        rules,
      ),
    ]
  },
  findings({ runs }) {
    const locked = lockedFor(runs, 5)
    return [
      `N = ${HEADROOM} × writes per second of the busiest counter × seconds that a write keeps its row locked: with 5 ms commits that is ` +
        `${about(locked * 1_000)} ms, so 100 writes/s need ${neededFor(100, locked)} slots and 1,000 need ${neededFor(1_000, locked)}.`,
      `Take that, rounded up, and stop: 1,000 slots answer ${about(medianOf(runs, named(1_000, 5), 'perSecond') / medianOf(runs, named(100, 5), 'perSecond'))} times what ` +
        `100 do from ${CONNECTIONS} connections, and every reading adds up ten times as many rows.`,
    ]
  },
  derived({ runs }) {
    return [
      {
        title: 'N by write rate',
        text: `Slots for the busiest counter’s writes per second, by the rule: ${HEADROOM} × rate × seconds locked.`,
        headings: [
          'database',
          'a write locks its row for',
          ...RATES.map((rate) => `${rate.toLocaleString('en-US')}/s`),
        ],
        rows: COMMITS.map((commitMs) => {
          const locked = lockedFor(runs, commitMs)
          return [
            commitOf(commitMs),
            `${about(locked * 1_000)} ms`,
            ...RATES.map((rate) => neededFor(rate, locked).toLocaleString('en-US')),
          ]
        }),
      },
    ]
  },
}
