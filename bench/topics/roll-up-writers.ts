import { fillSlots } from '../harness/fill.ts'
import { measureLoad } from '../harness/load.ts'
import { type Service, withService } from '../harness/service.ts'
import type { Variant } from '../topic.ts'
import { rollUpByHand } from './roll-up-by-hand.ts'
import { askToRollUp, leaveBehind, number, SERVICE, SETTINGS, SLOTS_EACH } from './roll-up-service.ts'

/** More than the roll-ups get done while writers are measured beside them. */
const BACKLOG = 120_000
const WRITER_KEYS = 1_000
const WRITER_CONNECTIONS = 16
/** Patience with a Worker that has just been started. */
const READY_MS = 10_000
const WRITER_BEHAVIOUR = { commitMs: 2, latencyMs: 5 }

export const ALONE = 'writers alone'
export const BESIDE = 'writers beside a roll-up'
export const BESIDE_HURRIED = 'writers beside a roll-up in a hurry'
export const BESIDE_BY_HAND = 'writers beside the statements by hand'

/** How they write, in words. */
export const CIRCUMSTANCES =
  `${WRITER_CONNECTIONS} connections, ${number(WRITER_KEYS)} keys, ${WRITER_BEHAVIOUR.latencyMs} ms of network, ` +
  `${WRITER_BEHAVIOUR.commitMs} ms per commit, a backlog of ${number(BACKLOG)} slots of other counters`

/** Something beside the writers, until the load is over. */
type Beside = (over: () => boolean, signal: AbortSignal) => Promise<void>

/**
 * Writers of many keys, with something beside them that rolls up again and again.
 *
 * @param make makes it ready before anything is measured: a process that starts takes a processor for itself
 */
const writers = (name: string, about: string, make?: (service: Service) => Promise<Beside>): Variant => ({
  name,
  about,
  table: 'Writers while something is rolled up',
  axes: { way: name },
  measure: (rig, round, seconds) =>
    withService(rig, { ...SERVICE, behaviour: WRITER_BEHAVIOUR }, async (service) => {
      const { server, database, url } = service
      const beside = await make?.(service)
      await fillSlots(service, { counters: BACKLOG / SLOTS_EACH, slotsEach: SLOTS_EACH })
      const count = async () => {
        // In one statement, because a roll-up may be moving something.
        const [row] = await server.query(
          `SELECT (SELECT COALESCE(SUM(count), 0) FROM \`${database}\`.slotted_counters) +
             (SELECT COALESCE(SUM(count), 0) FROM \`${database}\`.counter_totals) AS sum`,
        )
        return Number(row!.sum) - BACKLOG
      }
      return measureLoad(rig, service, {
        load: {
          method: 'POST',
          url: `${url}/hit`,
          connections: WRITER_CONNECTIONS,
          keys: WRITER_KEYS,
          seed: round,
          rampSeconds: 0,
          seconds,
        },
        warmUpSeconds: 2,
        warmUpConnections: WRITER_CONNECTIONS,
        count,
        ...(beside && { beside: (over) => beside(over, rig.signal) }),
      })
    }),
})

/** Roll-ups one after the other, by a Worker of their own, each of which may find that the one before left something. */
const rollUps =
  (hurried: boolean) =>
  async (service: Service): Promise<Beside> => {
    const { url } = await service.startAnother()
    await askToRollUp(url, AbortSignal.timeout(READY_MS))
    return async (over, signal) => {
      while (!over()) {
        if (hurried) await leaveBehind(service)
        await askToRollUp(url, signal)
      }
    }
  }

/** Writers alone, and beside something that rolls up. */
export const besides = [
  writers(ALONE, '`POST /hit`, nothing beside'),
  writers(BESIDE, 'roll-ups one after the other, by a Worker of their own', rollUps(false)),
  writers(BESIDE_HURRIED, `the same in pages of ${number(SETTINGS.ROLLUP.page_slots)}`, rollUps(true)),
  writers(BESIDE_BY_HAND, 'the statements by hand one after the other', async (service) => async (over) => {
    while (!over()) await rollUpByHand(service, 'equal work', over)
  }),
]
