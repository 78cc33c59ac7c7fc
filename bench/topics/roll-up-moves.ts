import { fillSlots } from '../harness/fill.ts'
import { watchMemory } from '../harness/process-cost.ts'
import type { Rig } from '../harness/rig.ts'
import { type Service, withService } from '../harness/service.ts'
import type { Figures, Outcome, Variant } from '../topic.ts'
import { type HandWritten, rollUpByHand } from './roll-up-by-hand.ts'
import { askToRollUp, leaveBehind, number, SERVICE, SETTINGS, SLOTS_EACH } from './roll-up-service.ts'

const SLOTS = 20_000
export const PENDING = [100, 1_000, 10_000, 100_000]

export const ROLL_UP = 'roll-up'
export const HURRIED = 'roll-up in a hurry'
export const BY_HAND = 'by hand'
export const BY_HAND_TOTALS = 'by hand, totals only'
export const SINGLE = 'roll-up, a slot each'
export const SINGLE_BY_HAND = 'by hand, a slot each'
export const pendingName = (slots: number) => `roll-up, ${number(slots)} pending`

/** By whom slots are moved: the product, also after a run that left something, or SQL by hand. */
type By = 'product' | 'product in a hurry' | HandWritten

/** Moves so many slots, after having moved as many before to warm up, and looks where they went. */
async function moveSlots(rig: Rig, slots: number, slotsEach: number, by: By): Promise<Outcome> {
  return withService(rig, SERVICE, async (service) => {
    const { server, database, url, pid } = service
    await fillSlots(service, { counters: slots / slotsEach, slotsEach })
    const move = async () => {
      if (by === 'product' || by === 'product in a hurry') return askToRollUp(url, rig.signal)
      await rollUpByHand(service, by)
    }
    await move()
    if (by === 'product in a hurry') await leaveBehind(service)
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
    return { figures, violations: await misplaced(service, 2 * slots, by !== 'totals only') }
  })
}

/** Whether everything that was moved is where it belongs, once. */
async function misplaced({ server, database, sum }: Service, moved: number, history: boolean): Promise<string[]> {
  const wrong: string[] = []
  const see = (what: string, found: number, right: number) => {
    if (found !== right) wrong.push(`${what} hold ${found} instead of ${right}`)
  }
  see('slots', await sum('slotted_counters'), 0)
  see('totals', await sum('counter_totals'), moved)
  if (!history) return wrong
  for (const [table, periods] of [
    ['counter_history', 1],
    ['counter_periods', 3],
    ['type_history', 4],
  ] as const) {
    const [row] = await server.query(`SELECT SUM(count) AS sum FROM \`${database}\`.${table}`)
    see(table, Number(row!.sum), periods * moved)
  }
  return wrong
}

const moving = (name: string, about: string, slotsEach: number, by: By): Variant => ({
  name,
  about,
  table: `${number(SLOTS)} pending slots`,
  axes: {
    way: name.replace(', a slot each', ''),
    spread: slotsEach === 1 ? 'one slot of each counter' : `${slotsEach} slots of each counter`,
  },
  measure: (rig) => moveSlots(rig, SLOTS, slotsEach, by),
})

const HISTORY = 'totals, hours, days, weeks, months, and the history of the type'

/** The same slots moved by the product and by hand. */
export const moves = [
  moving(ROLL_UP, `the product, ${SLOTS_EACH} slots of each counter`, SLOTS_EACH, 'product'),
  moving(
    HURRIED,
    `the same after a run that did not get to the end: pages of ${number(SETTINGS.ROLLUP.page_slots)}`,
    SLOTS_EACH,
    'product in a hurry',
  ),
  moving(BY_HAND, `one transaction of INSERT … SELECT: ${HISTORY}`, SLOTS_EACH, 'equal work'),
  moving(BY_HAND_TOTALS, 'the same without any history', SLOTS_EACH, 'totals only'),
  moving(SINGLE, 'the product, one slot of each counter', 1, 'product'),
  moving(SINGLE_BY_HAND, 'one transaction of INSERT … SELECT, one slot of each counter', 1, 'equal work'),
]

/** More and more slots moved by the product. */
export const byPending: Variant[] = PENDING.map((slots) => ({
  name: pendingName(slots),
  about: `the product, ${SLOTS_EACH} slots of each counter`,
  table: 'By number of pending slots',
  axes: { slots, way: 'roll-up' },
  measure: (rig) => moveSlots(rig, slots, SLOTS_EACH, 'product'),
}))
