import { counterValues } from '../../../src/counters/counters-sql.ts'
import { hash64 } from '../../../src/counters/ids.ts'
import { type Deployment, withDeployment } from '../../harness/deployment.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import type { Outcome, Variant } from '../../harness/variant.ts'
import type { Comparison } from '../../report/comparison.ts'
import { median, medianOf, rounded } from '../../report/medians.ts'
import { readResults } from '../../report/results.ts'
import type { Topic } from '../../report/topic.ts'
import { Keys } from '../../simulation/keys.ts'
import { Random } from '../../simulation/random.ts'
import { runWrites } from '../../simulation/run-simulation.ts'
import { OpenLoad } from './open-load.ts'
import { costsIn } from './server-costs.ts'

const COMMIT_MS = 2
/** Hits one after the other, which warm an isolate up and tell how long a statement takes. */
const SINGLE_HITS = 60
/** Of these, the first say nothing about a warm isolate. */
const COLD_HITS = 30
/** How far the model may be off. */
const TOLERANCE = 0.15

/** A load that a small, busy machine can serve. */
interface Load {
  isolates: number
  hitsPerSecond: number
  keys: number
  /** Milliseconds of network latency. */
  latencyMs: number
}

const LOADS: Load[] = [
  { isolates: 4, hitsPerSecond: 100, keys: 1_000, latencyMs: 5 },
  { isolates: 4, hitsPerSecond: 200, keys: 1_000, latencyMs: 40 },
  { isolates: 3, hitsPerSecond: 300, keys: 10_000, latencyMs: 80 },
  { isolates: 2, hitsPerSecond: 400, keys: 10, latencyMs: 120 },
]

const titleOf = ({ isolates, hitsPerSecond, keys, latencyMs }: Load) =>
  `${isolates} isolates, ${hitsPerSecond} hits/s, ${keys.toLocaleString('en-US')} keys, ${latencyMs} ms`
const measuredName = (load: Load) => `workerd: ${titleOf(load)}`
const modelName = (load: Load) => `model: ${titleOf(load)}`

/** What a measurement tells the model. */
interface Measured {
  outcome: Outcome
  hitsPerSecond: number
  seconds: number
  /** Milliseconds that statements took under load, as the Worker sees it: a hundred of them, from the shortest to the longest. */
  statementMs: number[]
}

/** Measurements of this process, by round and load: the model needs what was measured in the same round. */
const measurements = new WeakMap<Testbed, Map<string, Promise<Measured>>>()

function measured(testbed: Testbed, load: Load, round: number, seconds: number): Promise<Measured> {
  let known = measurements.get(testbed)
  if (known === undefined) {
    known = new Map()
    measurements.set(testbed, known)
  }
  const name = `${round} ${titleOf(load)}`
  let promise = known.get(name)
  if (promise === undefined) {
    promise = measure(testbed, load, round, seconds)
    known.set(name, promise)
  }
  return promise
}

async function measure(testbed: Testbed, load: Load, round: number, seconds: number): Promise<Measured> {
  const { isolates, hitsPerSecond, latencyMs } = load
  const options = { worker: 'product', behaviour: { latencyMs, commitMs: COMMIT_MS } } as const
  return withDeployment(testbed, options, async (deployment) => {
    const others = await Promise.all(Array.from({ length: isolates - 1 }, () => deployment.startAnother()))
    const urls = [deployment.url, ...others.map(({ url }) => url)]
    const statements = async () => {
      const counts = await Promise.all([deployment.statements(), ...others.map((other) => other.statements())])
      return counts.reduce((sum, count) => sum + count)
    }
    const pending = async () => {
      const [row] = await deployment.server.query(
        `SELECT COUNT(*) AS number FROM \`${deployment.database}\`.slotted_counters WHERE count <> 0`,
      )
      return Number(row!.number)
    }
    const sender = new OpenLoad()
    try {
      const singles = await Promise.all(
        urls.map(async (url, isolate) => {
          const durations: number[] = []
          for (let n = 0; n < SINGLE_HITS; n++) durations.push(await sender.hit(url, `/single/${isolate}`))
          return median(durations.slice(COLD_HITS))
        }),
      )
      // What a hit takes beyond its statement: the way to the Worker and to the endpoint.
      const deployments = [deployment, ...others]
      const durations = async () => (await Promise.all(deployments.map((one) => one.durations()))).flat()
      const wayMs = Math.max(0, median(singles) - median(await durations()))
      const keys = new Keys(load.keys)
      await storeNames(deployment, keys)
      const [statementsBefore, pendingBefore] = [await statements(), await pending()]
      const random = new Random(round)
      const run = await sender.run(urls, { keys, hitsPerSecond, seconds }, random, testbed.signal)
      const statementCount = (await statements()) - statementsBefore
      const pendingSlots = (await pending()) - pendingBefore
      const violations = [...new Set(run.failures)]
      const figures = {
        perSecond: run.sent / run.seconds,
        statementsPer1000: (statementCount / run.sent) * 1_000,
        pendingSlots,
      }
      const took = (await durations()).sort((a, b) => a - b)
      const statementMs = Array.from(
        { length: 100 },
        (_, n) => took[Math.floor(((n + 0.5) / 100) * took.length)]! + wayMs,
      )
      return { outcome: { figures, violations }, hitsPerSecond: figures.perSecond, seconds: run.seconds, statementMs }
    } finally {
      sender.close()
    }
  })
}

/** Stores the names of all keys: in the model, they were counted before. */
async function storeNames({ server, database }: Deployment, keys: Keys): Promise<void> {
  const addresses = Array.from({ length: keys.number }, (_, rank) => keys.address(rank))
  const rows = await Promise.all(
    addresses.map(
      async ({ recordType, name }) => `(${counterValues({ recordType, recordId: await hash64(name) })},'${name}')`,
    ),
  )
  await server.query(
    `INSERT INTO \`${database}\`.counters (record_type, record_id, bucket, name) VALUES ${rows.join()}`,
  )
}

async function simulate(testbed: Testbed, load: Load, round: number, seconds: number): Promise<Outcome> {
  const facts = await measured(testbed, load, round, seconds)
  const costs = costsIn(await readResults())
  if (costs === null) throw new Error('Measure server-costs first: npm run bench -- server-costs')
  const { isolates, keys } = load
  const figures = await runWrites(
    {
      load: {
        hitsPerSecond: facts.hitsPerSecond,
        keys,
        placement: 'placed',
        perIsolate: facts.hitsPerSecond / isolates,
        isolateSeconds: 600,
        ranges: 1,
        server: { shards: 1, processors: 2, commitMs: COMMIT_MS },
        places: [{ roundTripMs: 0, isolates, hitsPerSecond: facts.hitsPerSecond / isolates }],
        statementMs: facts.statementMs,
        seconds: facts.seconds,
      },
      costs,
      seed: round,
      budget: 0,
    },
    testbed.signal,
  )
  const violations = figures.failedPer1000 > 0 ? ['hits failed in the model'] : []
  return {
    figures: {
      perSecond: figures.simulatedHits / figures.seconds,
      statementsPer1000: figures.statementsPerHit * 1_000,
      pendingSlots: figures.pendingCounted,
    },
    violations,
  }
}

const variants: Variant[] = LOADS.flatMap((load): Variant[] => [
  {
    name: measuredName(load),
    about: 'workerd and MySQL',
    measure: async (testbed, round, seconds) => (await measured(testbed, load, round, seconds)).outcome,
  },
  {
    name: modelName(load),
    about: 'the same code on a virtual clock and the model of the server',
    measure: (testbed, round, seconds) => simulate(testbed, load, round, seconds),
  },
])

const FIGURES = [
  ['statementsPer1000', 'statements per hit'],
  ['pendingSlots', 'pending slots'],
] as const

const comparisons = LOADS.flatMap((load) =>
  FIGURES.map(
    ([figure, what]): Comparison => ({
      label: `${what}: ${titleOf(load)}`,
      figure,
      of: modelName(load),
      to: measuredName(load),
      target: { within: TOLERANCE },
    }),
  ),
)

/** The model of `scale` against workerd, where this machine can serve the load. */
export const scaleCheck: Topic = {
  name: 'scale-check',
  title: 'Is the simulation right?',
  text:
    'Several isolates of workerd count on one MySQL server, each through its own endpoint with network latency. Hits arrive at a steady rate, and their keys follow Zipf’s law. ' +
    'The simulation gets the same load, and the statement durations measured under it.',
  seconds: 10,
  variants,
  columns: ['perSecond', 'statementsPer1000', 'pendingSlots'],
  comparisons,
  // The finding sums them up.
  listed: false,
  findings({ runs }) {
    const off = LOADS.flatMap((load) =>
      FIGURES.map(([figure]) =>
        Math.abs(medianOf(runs, modelName(load), figure) / medianOf(runs, measuredName(load), figure) - 1),
      ),
    )
    return [
      `In ${off.length} comparisons, the simulation is off by at most ${rounded(Math.max(...off) * 100)}% (median: ${rounded(median(off) * 100)}%).`,
    ]
  },
}
