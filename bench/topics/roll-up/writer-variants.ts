import { type Deployment, type DeploymentOptions, withDeployment } from '../../harness/deployment.ts'
import { fillSlots } from '../../harness/fill-slots.ts'
import { measureLoad } from '../../harness/measure-load.ts'
import type { Variant } from '../../harness/variant.ts'
import { rollUpWithSql } from './hand-written-roll-up.ts'
import { DEPLOYMENT, number, requestRollUp, SLOTS_EACH } from './request-roll-up.ts'

/** More than roll-ups can move while writers are measured. */
const BACKLOG = 100_000
const WRITER_KEYS = 1_000
const WRITER_CONNECTIONS = 16
/** Time-out for a Worker that has just been started. */
const READY_MS = 10_000
const WRITER_BEHAVIOUR = { commitMs: 2, latencyMs: 5 }
/** A roll-up of a few seconds: one that moved the whole backlog would only be waited for. */
const SHORT = '/bench/short-roll-up'

const WRITER_DEPLOYMENT: DeploymentOptions = {
  ...DEPLOYMENT,
  behaviour: WRITER_BEHAVIOUR,
}

export const ALONE = 'writers alone'
export const DURING = 'writers beside a roll-up'
export const DURING_SQL = 'writers beside the statements by hand'

/** The load of the writers, in words. */
export const WRITER_LOAD =
  `${WRITER_CONNECTIONS} connections, ${number(WRITER_KEYS)} keys, ${WRITER_BEHAVIOUR.latencyMs} ms of network latency, ` +
  `${WRITER_BEHAVIOUR.commitMs} ms per commit, and a backlog of ${number(BACKLOG)} slots of other counters`

/** Background work until the writers' load is `over`. */
type Background = (over: () => boolean, signal: AbortSignal) => Promise<void>

/**
 * Writers of many keys, with roll-ups in the background.
 *
 * @param prepare sets up the background work before anything is measured: a starting process occupies a CPU
 */
const writers = (
  name: string,
  title: string,
  about: string,
  prepare?: (deployment: Deployment) => Promise<Background>,
): Variant => ({
  name,
  title,
  about,
  axes: { way: title },
  measure: (testbed, round, seconds) =>
    withDeployment(testbed, WRITER_DEPLOYMENT, async (deployment) => {
      const { server, database, url } = deployment
      const background = await prepare?.(deployment)
      await fillSlots(deployment, { counters: BACKLOG / SLOTS_EACH, slotsEach: SLOTS_EACH })
      const count = async () => {
        // In one statement, because a roll-up may be moving slots.
        const [row] = await server.query(
          `SELECT (SELECT COALESCE(SUM(count), 0) FROM \`${database}\`.slotted_counters) +
             (SELECT COALESCE(SUM(count), 0) FROM \`${database}\`.counters) AS sum`,
        )
        return Number(row!.sum) - BACKLOG
      }
      return measureLoad(testbed, deployment, {
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
        ...(background && { background: (over) => background(over, testbed.signal) }),
      })
    }),
})

/** Consecutive roll-ups by a separate Worker. */
async function rollUps(deployment: Deployment): Promise<Background> {
  const { url } = await deployment.startAnother()
  await requestRollUp(url, AbortSignal.timeout(READY_MS), SHORT)
  return async (over, signal) => {
    while (!over()) await requestRollUp(url, signal, SHORT)
  }
}

/** Writers alone, and during roll-ups. */
export const duringRollUps = [
  writers(ALONE, ALONE, '`POST /hit`, no roll-up'),
  writers(DURING, 'writers during roll-ups', 'consecutive roll-ups by a separate Worker', rollUps),
  writers(
    DURING_SQL,
    'writers during hand-written SQL',
    'consecutive transactions of hand-written SQL',
    async (deployment) => async (over) => {
      while (!over()) await rollUpWithSql(deployment, over)
    },
  ),
]
