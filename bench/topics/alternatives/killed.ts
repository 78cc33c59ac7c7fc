import { setTimeout } from 'node:timers/promises'
import { withDeployment } from '../../harness/deployment.ts'
import { type FailingClients, hitUntilFailure } from '../../harness/failing-clients.ts'
import { KillableDatabase } from '../../harness/killable-database.ts'
import { memoryMiB } from '../../harness/process-usage.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import type { Outcome, Variant } from '../../harness/variant.ts'
import { BODY, type Candidate, HEADERS } from './candidates.ts'
import { type Outside, urlOf, withOutside } from './outside.ts'

const CLIENTS = 16
const POLL_MS = 5
const RESTART_MS = 60_000

/** The name of the variant in which everything of a way to count is killed. */
export const killedName = (name: string) => `${name}, all killed`

/** A way to count that runs. */
interface Running extends Omit<FailingClients, 'number' | 'signal'> {
  /** The processes that count and store. */
  pids(): Promise<number[]>
  /** Ends them with SIGKILL, and starts them again on the same data. */
  killAndRestart(): Promise<unknown>
  count(): Promise<number>
}

/** What is lost of the hits that were acknowledged when everything is killed, how long it takes to come back, and its memory. */
async function killAll(testbed: Testbed, running: Running, seconds: number): Promise<Outcome> {
  const { url, method, body, headers } = running
  const clients = { url, method, body, headers, signal: testbed.signal }
  const hits = hitUntilFailure({ ...clients, number: CLIENTS })
  // A failure surfaces at the await below.
  hits.catch(() => {})
  await setTimeout(seconds * 1_000, undefined, { signal: testbed.signal })
  const memory = await memoryMiB(await running.pids())
  const killed = performance.now()
  await running.killAndRestart()
  const acknowledged = await hits
  const one = () => fetch(url, { method, headers, ...(method === 'POST' && { body }) })
  let answered = 0
  while (answered === 0) {
    const isAnswered = await one().then(
      (response) => response.arrayBuffer().then(() => response.ok),
      () => false,
    )
    if (isAnswered) answered++
    else if (performance.now() - killed > RESTART_MS) throw new Error(`${url} does not answer after a restart.`)
    else await setTimeout(POLL_MS)
  }
  const restartMs = performance.now() - killed
  const counted = await running.count()
  const told = acknowledged + answered
  return {
    figures: {
      told,
      counted,
      // At least: a hit of each client may be counted without having been acknowledged.
      lost: Math.max(0, told - counted),
      restartMs,
      ...(memory !== null && { memoryMiB: memory }),
    },
    violations: acknowledged === 0 ? ['no hit was acknowledged'] : [],
  }
}

/** A candidate with a private database, of which everything is killed at once. */
export const killedVariant = (candidate: Candidate): Variant => ({
  name: killedName(candidate.name),
  about: candidate.about,
  needs: candidate.redis === undefined ? [] : ['redis'],
  async measure(testbed, _, seconds) {
    const { worker, redis, durableObjects, path } = candidate
    const own = redis === undefined && durableObjects === undefined ? await KillableDatabase.start(testbed) : null
    const options = { worker, ...(redis && { redis }), ...(durableObjects && { durableObjects }) }
    try {
      return await withDeployment(testbed, { ...options, server: own?.server ?? testbed.server() }, (deployment) => {
        const store = own?.process ?? deployment.redis?.process
        const running: Running = {
          url: deployment.url + path,
          method: 'POST',
          body: BODY,
          headers: HEADERS,
          pids: async () => [deployment.pid, ...((await store?.pids()) ?? [])],
          killAndRestart: () => Promise.all([deployment.killAndRestart(), store?.killAndRestart()]),
          count: () => deployment.settle(() => candidate.count(deployment, 1)),
        }
        return killAll(testbed, running, seconds)
      })
    } finally {
      await own?.stop()
    }
  },
})

/** A server without a Worker, of which everything is killed at once. */
export const outsideKilled = (outside: Outside): Variant => ({
  ...outside.way,
  name: killedName(outside.way.name),
  measure: (testbed, _, seconds) =>
    withOutside(testbed, outside, (server) => {
      const { method, body } = outside
      const running: Running = {
        url: urlOf(outside, server),
        method,
        body,
        headers: HEADERS,
        pids: () => server.process.pids(),
        killAndRestart: () => server.process.killAndRestart(),
        count: async () => (await server.hits()).hits,
      }
      return killAll(testbed, running, seconds)
    }),
})
