import type { Outcome, Variant } from '../../harness/variant.ts'
import { type Chart, lineChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { LOCATIONS } from '../../simulation/places.ts'
import { COMMIT_MS, ISOLATE_SECONDS, loadOf, nameOf, PER_ISOLATE, POINTS, RATES } from './loads.ts'
import { dayChart } from './scale-day.ts'
import { simulate } from './simulated-figures.ts'

/** Hits that one run simulates. */
const BUDGET = 30_000

const variants: Variant[] = POINTS.map((point): Variant => {
  const { placement, shards, hitsPerSecond } = point
  return {
    name: nameOf(point),
    about: '',
    axes: { hits: hitsPerSecond, series: `${placement}, ${shards === 1 ? '1 shard' : `${shards} shards`}` },
    measure: (testbed, round): Promise<Outcome> => simulate(testbed, loadOf(point), round, BUDGET),
  }
})

/** A site on many isolates. */
export const scale: Topic = {
  name: 'scale',
  title: 'What reaches the database from the whole internet?',
  text:
    'A simulation of the product’s group commit, slot pool and names, unchanged, on a virtual clock, with a model of the database made of `server-costs`. ' +
    `Visitors are in ${LOCATIONS} locations, 5 to 250 ms from the database; or the Worker is placed in one, 5 ms away. A location runs an isolate for every ` +
    `${PER_ISOLATE.toLocaleString('en-US')} hits a second, at least one. Isolates live for ${ISOLATE_SECONDS / 60} minutes on average. A commit takes ${COMMIT_MS} ms. A site with n hits a second has 1,000 × √n keys, whose ` +
    'popularity follows Zipf’s law. Each shard has one range. [Capacity and cost](../docs/scale.md) has the tables.',
  mostRounds: 3,
  variants,
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
  ],
  comparisons: [],
  charts: (results) => {
    const { runs } = results
    const chart = (figure: Parameters<typeof pointsOf>[2], name: string, title: string, alt: string): Chart =>
      lineChart({
        name,
        alt,
        points: pointsOf(variants, runs, figure),
        series: { field: 'series', title: 'the Worker runs' },
        x: { field: 'hits', title: 'hits/s', log: true, values: RATES },
        y: { title, log: true },
      })
    return [
      dayChart(results),
      chart(
        'hitStatementsPerSecond',
        'scale-statements',
        'statements with hits/s',
        'Statements per second by hits per second',
      ),
      chart('rowsWrittenPerSecond', 'scale-rows', 'slots written/s', 'Slots written per second by hits per second'),
      chart(
        'pendingPerCounter',
        'scale-pending',
        'pending slots per counter',
        'Pending slots per counter by hits per second',
      ),
      chart('slotsOfDay', 'scale-kept', 'slots kept for a day', 'Slots kept for a day by hits per second'),
    ]
  },
  findings({ runs }) {
    const hitsPerStatement = (placement: 'everywhere' | 'placed', hitsPerSecond: number) =>
      rounded(hitsPerSecond / medianOf(runs, nameOf({ placement, shards: 1, hitsPerSecond }), 'hitStatementsPerSecond'))
    const formulas = variants.map(({ name }) => medianOf(runs, name, 'pendingFormula')).sort((a, b) => a - b)
    return [
      `At 10,000 hits/s, a statement carries ${hitsPerStatement('everywhere', 10_000)} hits if the Worker runs in all locations, and ${hitsPerStatement('placed', 10_000)} if it is placed near the database.`,
      `What is pending after a minute, and kept after a day, follows from the slots that were used and the law of the keys. That formula gives ${formulas[0]!.toFixed(2)} to ${formulas.at(-1)!.toFixed(2)} times what the simulation left pending.`,
    ]
  },
}
