import { setTimeout } from 'node:timers/promises'
import { withDeployment } from '../../harness/deployment.ts'
import { KillableDatabase } from '../../harness/killable-database.ts'
import { Nginx } from '../../harness/nginx.ts'
import { memoryMiB } from '../../harness/process-usage.ts'
import { type FailingClients, hitUntilFailure } from '../../harness/retrying-clients.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import type { Outcome, Variant } from '../../harness/variant.ts'
import { runWrk } from '../../harness/wrk.ts'
import { HOT_KEY } from '../../harness/wrk-load-keys.ts'
import { type Candidate, headersOf } from './candidates.ts'

const CLIENTS = 16
const POLL_MS = 5
const RESTART_MS = 60_000

/** nginx's access log as a counter. It has no candidate, because there is no Worker. */
export const NGINX = {
  name: 'nginx, GoAccess',
  about: 'a pixel; GoAccess counts the lines of the access log',
  needs: ['nginx'] as const,
}

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
      return await withDeployment(testbed, { ...options, server: own?.server ?? testbed.server() }, (deployment) =>
        killAll(
          testbed,
          {
            url: deployment.url + path,
            method: 'POST',
            body: JSON.stringify({ type: 'page_view', key: HOT_KEY }),
            headers: headersOf(candidate, ''),
            pids: async () => [
              deployment.pid,
              ...(own === null ? [] : [await own.pid()]),
              ...(deployment.redis === null ? [] : [deployment.redis.pid]),
            ],
            killAndRestart: () =>
              Promise.all([deployment.killAndRestart(), own?.killAndRestart(), deployment.redis?.killAndRestart()]),
            count: () => deployment.settle(() => candidate.count(deployment, 1)),
          },
          seconds,
        ),
      )
    } finally {
      await own?.stop()
    }
  },
})

async function withNginx<T>(testbed: Testbed, work: (nginx: Nginx) => Promise<T>): Promise<T> {
  const nginx = await Nginx.start(await testbed.newDirectory())
  try {
    return await work(nginx)
  } finally {
    await nginx.stop()
  }
}

/** nginx, of which everything is killed at once. */
export const nginxKilled: Variant = {
  ...NGINX,
  name: killedName(NGINX.name),
  measure: (testbed, _, seconds) =>
    withNginx(testbed, (nginx) =>
      killAll(
        testbed,
        {
          url: `${nginx.url}?key=${encodeURIComponent(HOT_KEY)}`,
          method: 'GET',
          body: '',
          headers: { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0' },
          pids: () => nginx.pids(),
          killAndRestart: () => nginx.killAndRestart(),
          count: async () => (await nginx.hits()).hits,
        },
        seconds,
      ),
    ),
}

/** nginx under load. */
export const nginxLoad = (name: string, connections: number, axes: Record<string, string>): Variant => ({
  ...NGINX,
  name,
  title: NGINX.name,
  axes,
  measure: (testbed, round, seconds) =>
    withNginx(testbed, async (nginx) => {
      const url = `${nginx.url}?key=${encodeURIComponent(HOT_KEY)}`
      const load = { method: 'GET', url, connections, keys: 0, order: 'turn', seed: round, rampSeconds: 0 } as const
      const { answered, perSecond, p50Ms, p99Ms, errors } = await runWrk({ ...load, seconds }, testbed.signal)
      const { hits, milliseconds } = await nginx.hits()
      const failed = Object.values(errors).reduce((sum, count) => sum + count, 0)
      const isExact = hits >= answered && hits <= answered + connections
      return {
        figures: { answered, perSecond, p50Ms, p99Ms, counted: hits, errors: failed, milliseconds },
        violations:
          failed === 0 && isExact ? [] : [`${hits} hits were counted, ${answered} answered, ${failed} failed`],
      }
    }),
})
