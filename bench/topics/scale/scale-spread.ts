import type { Outcome, Variant } from '../../harness/variant.ts'
import { lineChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import type { Constants } from '../../simulation/run-simulation.ts'
import type { WriteLoad } from '../../simulation/simulate-writes.ts'
import { ISOLATE_SECONDS, loadOf } from './loads.ts'
import { simulate } from './simulated-figures.ts'

const RATE = 10_000
const BUDGET = 20_000
/** The most hits a second for which a location runs one isolate. The smaller, the more isolates there are. */
const PER_ISOLATE = [1_000, 100, 10, 3]
/** Isolates of 300 locations that follow from that. */
const ISOLATES = [300, 331, 1_167, 3_493]
const DAY_SECONDS = 86_400

/** What could be done about many isolates. */
interface Way {
  name: string
  about: string
  constants?: Constants
  change?: Partial<WriteLoad>
}

const AS_SHIPPED: Way = { name: 'as shipped', about: 'the product' }
const PACES: Way[] = [50, 250].map((milliseconds) => ({
  name: `a flush every ${milliseconds} ms`,
  about: `the same code, with flushes ${milliseconds} ms apart even if few requests wait`,
  constants: { PACE_MS: milliseconds, MANY: 1 },
}))
const LANES: Way[] = [2, 1].map((lanes) => ({
  name: lanes === 1 ? 'one flush at a time' : `${lanes} flushes at a time`,
  about: `the same code, with at most ${lanes === 1 ? 'one flush' : `${lanes} flushes`} of an isolate under way`,
  constants: { MAX_LEADERS: lanes },
}))
const OBJECTS: Way = {
  name: 'an object per location',
  about:
    'all isolates of a location pass their hits to one Durable Object, which runs the same code and lives for a day',
  change: { isolateSeconds: DAY_SECONDS },
}
const WAYS = [AS_SHIPPED, ...LANES, ...PACES]

const spreadName = ({ name }: Way, isolates: number) => `${isolates.toLocaleString('en-US')} isolates, ${name}`

/** @param perIsolate the most hits a second for which a location runs one isolate */
function variantOf(way: Way, isolates: number, perIsolate: number): Variant {
  const load = {
    ...loadOf({ placement: 'everywhere', shards: 1, hitsPerSecond: RATE }),
    perIsolate,
    isolateSeconds: ISOLATE_SECONDS,
    ...way.change,
  }
  return {
    name: spreadName(way, isolates),
    about: way.about,
    axes: { way: way.name, isolates },
    measure: (testbed, round): Promise<Outcome> => simulate(testbed, load, round, BUDGET, way.constants),
  }
}

const byIsolates = WAYS.flatMap((way) => ISOLATES.map((isolates, n) => variantOf(way, isolates, PER_ISOLATE[n]!)))
// However many isolates there are, an object counts for all of a location.
const objects = variantOf(OBJECTS, ISOLATES[0]!, Number.MAX_SAFE_INTEGER)
const variants: Variant[] = [...byIsolates, objects]

/** How many isolates there are, and what would help if there are many. */
export const scaleSpread: Topic = {
  name: 'scale-spread',
  title: 'What if the traffic spreads over more isolates?',
  text:
    `${RATE.toLocaleString('en-US')} hits a second in 300 locations, each of which runs an isolate for every ${PER_ISOLATE.map((n) => n.toLocaleString('en-US')).join(', ')} hits a second. The chart compares fewer flushes at a time, longer pauses ` +
    'between them, and a Durable Object in each location that counts for all of its isolates.',
  mostRounds: 3,
  variants,
  columns: [
    'isolates',
    'hitStatementsPerSecond',
    'nameStatementsPerSecond',
    'rowsWrittenPerSecond',
    'processors',
    'pendingSlots',
    'slotsOfDay',
    'p50Ms',
  ],
  comparisons: [],
  charts: ({ runs }) => {
    const ofObjects = medianOf(runs, objects.name, 'hitStatementsPerSecond')
    const line = ISOLATES.map((isolates) => ({ isolates, y: ofObjects, way: OBJECTS.name }))
    return [
      lineChart(
        {
          name: 'scale-spread',
          alt: 'Statements per second by number of isolates, for 10,000 hits per second',
          points: pointsOf(byIsolates, runs, 'hitStatementsPerSecond'),
          series: { field: 'way', title: '' },
          x: { field: 'isolates', title: 'isolates', log: true, values: ISOLATES },
          y: { title: 'statements with hits/s', log: true },
        },
        Number.isNaN(ofObjects) ? [] : line,
      ),
    ]
  },
  findings({ runs }) {
    const carried = (way: Way, isolates: number) =>
      rounded(RATE / medianOf(runs, spreadName(way, isolates), 'hitStatementsPerSecond'))
    const [few, many] = [ISOLATES[0]!, ISOLATES.at(-1)!]
    return [
      `With ${few} isolates, a statement carries ${carried(AS_SHIPPED, few)} hits, and with ${many.toLocaleString('en-US')} only ${carried(AS_SHIPPED, many)}. With flushes 250 ms apart, it would be ${carried(PACES[1]!, few)} and ${carried(PACES[1]!, many)}.`,
    ]
  },
}
