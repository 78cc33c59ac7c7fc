import type { Outcome, Variant } from '../../harness/variant.ts'
import { lineChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { LOCATIONS } from '../../simulation/places.ts'
import { COMMIT_MS, ISOLATE_SECONDS, loadOf, nameOf, PER_ISOLATE, POINTS, RATES, shardsOf } from './loads.ts'
import { backgroundVariants, rollUpChart, rollUpRate } from './scale-roll-up.ts'
import { simulate } from './simulated-figures.ts'

/** Hits that one run simulates. */
const BUDGET = 30_000

const loads: Variant[] = POINTS.map((point): Variant => {
  const { placement, shards, hitsPerSecond } = point
  return {
    name: nameOf(point),
    about: '',
    axes: { hits: hitsPerSecond, series: `${placement}, ${shardsOf(shards)}` },
    measure: (testbed, round): Promise<Outcome> => simulate(testbed, loadOf(point), round, BUDGET),
  }
})

/** A site on many isolates, and the roll-up and pruning on shards. */
export const scale: Topic = {
  name: 'scale',
  title: 'What reaches the database from the whole internet?',
  text:
    'The product’s code runs unchanged on a virtual clock, with a model of the database based on `server-costs`. The Worker runs where its visitors are, in ' +
    `${LOCATIONS} locations, 5 to 250 ms from the database, or is placed in one location 5 ms away. A location runs an isolate for every ` +
    `${PER_ISOLATE.toLocaleString('en-US')} hits a second, at least one. Isolates live for ${ISOLATE_SECONDS / 60} minutes on average. A commit takes ${COMMIT_MS} ms. A site with n hits a second has 1,000 × √n keys, which ` +
    'follow Zipf’s law. Each shard has one range. [Capacity and cost](../docs/scale.md) has the tables.',
  mostRounds: 3,
  variants: [...loads, ...backgroundVariants],
  columns: [
    'isolates',
    'simulatedIsolates',
    'simulatedHits',
    'hitStatementsPerSecond',
    'nameStatementsPerSecond',
    'rowsWrittenPerSecond',
    'newSlotsPerSecond',
    'processors',
    'pendingSlots',
    'pendingPerCounter',
    'pendingOfBusiest',
    'slotsOfDay',
    'p50Ms',
    'p99Ms',
    'pendingFormula',
    'rows',
    'milliseconds',
    'rowsPerSecond',
    'statements',
    'processorSeconds',
  ],
  comparisons: [],
  charts: ({ runs }) => [
    lineChart({
      name: 'scale-statements',
      alt: 'Statements per second by hits per second',
      points: pointsOf(loads, runs, 'hitStatementsPerSecond'),
      series: { field: 'series', title: 'the Worker runs' },
      x: { field: 'hits', title: 'hits/s', log: true, values: RATES },
      y: { title: 'statements with hits/s', log: true },
    }),
    rollUpChart(runs),
  ],
  findings({ runs }) {
    const hitsPerStatement = (placement: 'everywhere' | 'placed', hitsPerSecond: number) =>
      rounded(hitsPerSecond / medianOf(runs, nameOf({ placement, shards: 1, hitsPerSecond }), 'hitStatementsPerSecond'))
    const rate = (shards: number) => rounded(rollUpRate(runs, shards))
    return [
      `At 10,000 hits/s, a statement carries ${hitsPerStatement('everywhere', 10_000)} hits if the Worker runs in all locations, and ${hitsPerStatement('placed', 10_000)} if it is placed near the database.`,
      `A roll-up moves ${rate(1)} slots/s on one shard, ${rate(4)} on 4 and ${rate(16)} on 16: at most 6 pages run at once.`,
    ]
  },
}
