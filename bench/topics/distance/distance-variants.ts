import { withDeployment } from '../../harness/deployment.ts'
import { fillSlots, spread } from '../../harness/fill-slots.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import type { Outcome, Variant } from '../../harness/variant.ts'
import { rollUpWithSql } from '../roll-up/hand-written-roll-up.ts'
import { DEPLOYMENT, requestRollUp } from '../roll-up/request-roll-up.ts'
import { findViolations } from '../roll-up/violations.ts'

/** Milliseconds of network latency of a statement. */
export const LATENCIES = [0, 5, 50, 150]
/** Those at which the product moves several pages of a range at the same time. */
export const FAR = [50, 150]

/** Numbers of slots that counters have in turn. */
const SLOTS_EACH = [2, 3]
/** Slots that warm the Worker up. */
export const WARM_UP_SLOTS = 5_000

/** How pages are moved. */
export interface Way {
  name: string
  about: string
  ranges: number
  counters: number
  /** Path of the request. Default: the product's. */
  path?: string
}

export const ONE_RANGE: Way = { name: '1 range', about: 'the product', ranges: 1, counters: 10_000 }
export const FOUR_RANGES: Way = { ...ONE_RANGE, name: '4 ranges', ranges: 4 }
/** Moves fewer slots, because it is slow. They fill ten pages: a nearly empty last page would lower the rate. */
export const SEQUENTIAL: Way = {
  name: '1 range, one page after the other',
  about: 'the same statements, one at a time',
  ranges: 1,
  counters: 3_980,
  path: '/bench/roll-up-one-after-the-other',
}

/** The number of slots that are moved. */
export function slotsOf({ counters }: Way): number {
  return SLOTS_EACH.reduce((sum, each) => sum + (counters / SLOTS_EACH.length) * each, 0)
}

/** The name of a variant. */
export const named = ({ name }: Way, latencyMs: number) => `${latencyMs} ms, ${name}`

/** Measures a roll-up, after a short one without latency to warm up, and checks the tables afterwards. */
async function moveSlots(testbed: Testbed, way: Way, latencyMs: number): Promise<Outcome> {
  const { ranges, counters, path } = way
  const settings = { ...DEPLOYMENT.settings, SHARDING: { ranges } }
  return withDeployment(testbed, { ...DEPLOYMENT, settings }, async (deployment) => {
    const { server, database, url } = deployment
    const turns = SLOTS_EACH.length
    for (const [turn, slotsEach] of SLOTS_EACH.entries()) {
      const idOf = (counter: number) => spread(turns * counter + turn + 1)
      await fillSlots(deployment, { counters: counters / turns, slotsEach, idOf })
    }
    // Creates the rows of the history in less time than a roll-up.
    await rollUpWithSql(deployment, 'equal work')
    const refill = (limit = '') => server.query(`UPDATE \`${database}\`.slotted_counters SET count = 1 ${limit}`)
    await refill(`LIMIT ${WARM_UP_SLOTS}`)
    await requestRollUp(url, testbed.signal, path)
    await refill()
    await deployment.behave({ latencyMs })
    const began = performance.now()
    const { outcome, statements } = await requestRollUp(url, testbed.signal, path)
    const milliseconds = performance.now() - began
    const rows = slotsOf(way)
    const violations = await findViolations(deployment, 2 * rows + WARM_UP_SLOTS, true)
    if (outcome !== 'complete') violations.push(`the roll-up was ${outcome}`)
    return { figures: { rows, milliseconds, rowsPerSecond: (rows / milliseconds) * 1_000, statements }, violations }
  })
}

const moving = (way: Way, latencyMs: number): Variant => ({
  name: named(way, latencyMs),
  about: way.about,
  axes: { way: way.name, latencyMs },
  measure: (testbed) => moveSlots(testbed, way, latencyMs),
})

/** Every way at every latency, and one page after the other only where the product does something else. */
export const byDistance: Variant[] = [
  ...LATENCIES.map((latencyMs) => moving(ONE_RANGE, latencyMs)),
  ...FAR.map((latencyMs) => moving(SEQUENTIAL, latencyMs)),
  ...LATENCIES.map((latencyMs) => moving(FOUR_RANGES, latencyMs)),
]
