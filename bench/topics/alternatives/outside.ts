import { setTimeout } from 'node:timers/promises'
import type { KillableProcess } from '../../harness/killable-process.ts'
import { Nginx } from '../../harness/nginx.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import type { Variant } from '../../harness/variant.ts'
import { WebCounter } from '../../harness/web-counter.ts'
import { runWrk } from '../../harness/wrk.ts'
import { HOT_KEY } from '../../harness/wrk-load-keys.ts'
import { BODY } from './candidates.ts'
import { HITS_OF_DAY } from './history.ts'

/** How often, and how long apart, to look whether more hits were stored. */
const POLL_MS = 2_000
const MAX_POLLS = 15

/** A server that counts without a Worker. */
interface OutsideServer {
  url: string
  process: KillableProcess
  /** The hits that it counted, and how long it took to read them. */
  hits(): Promise<{ hits: number; milliseconds: number }>
  /** Bytes of what it keeps of them. */
  historyBytes(): Promise<number>
}

export interface Outside {
  way: Required<Pick<Variant, 'name' | 'about' | 'needs'>>
  method: 'GET' | 'POST'
  query: string
  body: string
  start(directory: string): Promise<OutsideServer>
}

/** nginx's access log as a counter. */
export const NGINX: Outside = {
  way: { name: 'nginx, GoAccess', about: 'a pixel; GoAccess counts the lines of the access log', needs: ['nginx'] },
  method: 'GET',
  query: `?key=${encodeURIComponent(HOT_KEY)}`,
  body: '',
  start: (directory) => Nginx.start(directory),
}

/** A counter in Python with SQLite. It takes the body of a hit as one for the path /. */
export const WEB_COUNTER: Outside = {
  way: { name: 'web-counter', about: 'a self-hosted counter from PyPI: Python and SQLite', needs: ['web-counter'] },
  method: 'POST',
  query: '',
  body: BODY,
  start: (directory) => WebCounter.start(directory),
}

export const urlOf = ({ query }: Outside, { url }: OutsideServer) => url + query

export async function withOutside<T>(
  testbed: Testbed,
  { start }: Outside,
  work: (server: OutsideServer) => Promise<T>,
): Promise<T> {
  const server = await start(await testbed.newDirectory())
  try {
    return await work(server)
  } finally {
    await server.process.stop()
  }
}

/** The hits that it counted, once those that it answered are there, or none has been added for two seconds. */
async function settledHits(server: OutsideServer, answered: number): ReturnType<OutsideServer['hits']> {
  let last = await server.hits()
  for (let polls = 0; polls < MAX_POLLS && last.hits < answered; polls++) {
    await setTimeout(POLL_MS)
    const next = await server.hits()
    if (next.hits === last.hits) break
    last = next
  }
  return last
}

/** Such a server under load. */
export const outsideLoad = (
  outside: Outside,
  name: string,
  connections: number,
  axes: Record<string, string>,
): Variant => ({
  ...outside.way,
  name,
  title: outside.way.name,
  axes,
  measure: (testbed, round, seconds) =>
    withOutside(testbed, outside, async (server) => {
      const { method, body } = outside
      const bytesBefore = await server.historyBytes()
      const load = { method, url: urlOf(outside, server), connections, keys: body === '' ? 0 : 1, seed: round } as const
      const result = await runWrk({ ...load, order: 'turn', rampSeconds: 0, seconds }, testbed.signal)
      const { answered, perSecond, p50Ms, p99Ms, errors } = result
      const { hits, milliseconds } = await settledHits(server, answered)
      const dayKiB = (((await server.historyBytes()) - bytesBefore) / hits) * (HITS_OF_DAY / 1024)
      const failed = Object.values(errors).reduce((sum, count) => sum + count, 0)
      const isPossible = hits > 0 && hits <= answered + connections
      return {
        figures: {
          answered,
          perSecond,
          p50Ms,
          p99Ms,
          counted: hits,
          lost: Math.max(0, answered - hits),
          errors: failed,
          milliseconds,
          dayKiB,
        },
        violations:
          failed === 0 && isPossible ? [] : [`${hits} hits were counted, ${answered} answered, ${failed} failed`],
      }
    }),
})
