import { withDeployment } from '../../harness/deployment.ts'
import type { Figures } from '../../harness/figure-names.ts'
import { fillSlots } from '../../harness/fill-slots.ts'
import { watchMemory } from '../../harness/process-usage.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import type { Outcome, Variant } from '../../harness/variant.ts'
import { rollUpWithSql } from './hand-written-roll-up.ts'
import { DEPLOYMENT, number, requestRollUp, SLOTS_EACH } from './request-roll-up.ts'
import { findViolations } from './violations.ts'

const SLOTS = 20_000
export const BACKLOG = 50_000

export const ROLL_UP = 'roll-up'
export const SQL = 'by hand'
export const SINGLE = 'roll-up, a slot each'
export const SINGLE_SQL = 'by hand, a slot each'
export const HOT = 'roll-up, 1,000 slots each'
export const HOT_SQL = 'by hand, 1,000 slots each'
export const BACKLOG_ROLL_UP = `roll-up, ${number(BACKLOG)} pending`

/** What moves the slots: the product, or hand-written SQL. */
type Method = 'product' | 'SQL'

/** Measures moving slots, after moving as many to warm up, and checks the tables afterwards. */
async function moveSlots(testbed: Testbed, slots: number, slotsEach: number, method: Method): Promise<Outcome> {
  return withDeployment(testbed, DEPLOYMENT, async (deployment) => {
    const { server, database, url, pid } = deployment
    await fillSlots(deployment, { counters: slots / slotsEach, slotsEach })
    const move = async () => {
      if (method === 'product') return requestRollUp(url, testbed.signal)
      await rollUpWithSql(deployment)
    }
    await move()
    await server.query(`UPDATE \`${database}\`.slotted_counters SET count = 1`)
    const memory = await watchMemory(pid)
    const began = performance.now()
    const summary = await move()
    const milliseconds = performance.now() - began
    const figures: Figures = { rows: slots, milliseconds, rowsPerSecond: (slots / milliseconds) * 1_000 }
    if (summary) {
      figures.statements = summary.statements
      const peakMiB = await memory()
      if (peakMiB !== null) figures.peakMiB = peakMiB
    }
    return { figures, violations: await findViolations(deployment, 2 * slots) }
  })
}

/** Slots of a counter that many isolates count. They fill a page. */
const HOT_SLOTS = 1_000

function moving(name: string, way: string, about: string, slotsEach: number, method: Method): Variant {
  const spread = `${number(slotsEach)} ${slotsEach === 1 ? 'slot' : 'slots'} per counter`
  return {
    name,
    title: slotsEach === SLOTS_EACH ? way : `${way}, ${spread}`,
    about,
    measure: (testbed) => moveSlots(testbed, SLOTS, slotsEach, method),
  }
}

const HISTORY = 'totals, hours, days, months, and the history of the type'

/** The same slots, moved by the product and by hand-written SQL. */
export const byMethod = [
  moving(ROLL_UP, 'roll-up', `the product, ${SLOTS_EACH} slots per counter`, SLOTS_EACH, 'product'),
  moving(SQL, 'hand-written SQL', `one transaction of INSERT … SELECT: ${HISTORY}`, SLOTS_EACH, 'SQL'),
  moving(SINGLE, 'roll-up', 'the product', 1, 'product'),
  moving(SINGLE_SQL, 'hand-written SQL', 'one transaction of INSERT … SELECT', 1, 'SQL'),
  moving(HOT, 'roll-up', 'the product', HOT_SLOTS, 'product'),
  moving(HOT_SQL, 'hand-written SQL', 'one transaction of INSERT … SELECT', HOT_SLOTS, 'SQL'),
]

/** A backlog, moved by the product. */
export const ofBacklog: Variant = {
  name: BACKLOG_ROLL_UP,
  about: `the product, ${SLOTS_EACH} slots per counter`,
  measure: (testbed) => moveSlots(testbed, BACKLOG, SLOTS_EACH, 'product'),
}
