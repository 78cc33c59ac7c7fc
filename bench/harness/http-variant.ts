import type { CountTable } from './create-tables.ts'
import { type Deployment, type DeploymentOptions, withDeployment } from './deployment.ts'
import { measureLoad } from './measure-load.ts'
import type { Testbed } from './shared-testbed.ts'
import type { Outcome, Variant } from './variant.ts'

const WARM_UP_SECONDS = 1
/** Requests cut off at the end of the warm-up must finish first, which takes long where hits queue for one row. */
const MAX_WARM_UP_CONNECTIONS = 64

/** A route, and the load to put on it. */
export interface HttpVariant
  extends Pick<Variant, 'name' | 'title' | 'about' | 'axes' | 'needs'>,
    Omit<DeploymentOptions, 'server'> {
  /** The database product to measure on. Default: the testbed's first server. */
  server?: 'mysql' | 'mariadb' | 'vitess'
  method?: 'GET' | 'POST'
  path: string
  connections: number
  /** Number of distinct keys in the bodies; 0 sends no body. Default: 1. */
  keys?: number
  /** Seconds until queues reach their steady length, which do not count towards requests per second. Default: 0. */
  rampSeconds?: number
  /** Minimum seconds to measure, if the topic asks for less. Default: 1. */
  leastSeconds?: number
  /** Where the route counts, or `null` if it does not. Every request that was answered must be found there. */
  counts: CountTable | ((deployment: Deployment) => Promise<number>) | null
  /** Prepares the database before anything is measured. */
  prepare?(deployment: Deployment): Promise<void>
  /** Checks the result afterwards and returns violations. */
  check?(deployment: Deployment): Promise<string[]>
}

/** A variant that warms up a route, puts load on it, and compares the requests answered with the hits counted. */
export function httpVariant(variant: HttpVariant): Variant {
  const { name, title, about, axes, server } = variant
  const needs = [...(variant.needs ?? []), ...(server === undefined ? [] : [server])]
  if (variant.redis !== undefined) needs.push('redis')
  return {
    name,
    ...(title !== undefined && { title }),
    about,
    ...(axes !== undefined && { axes }),
    needs,
    measure: (testbed, round, seconds) =>
      withDeployment(testbed, deploymentOptions(testbed, variant), (deployment) =>
        measure(testbed, deployment, variant, round, seconds),
      ),
  }
}

function deploymentOptions(testbed: Testbed, variant: HttpVariant): DeploymentOptions {
  const { worker, behaviour, server, settings, durableObjects, redis } = variant
  return {
    worker,
    server: testbed.server(server),
    ...(behaviour !== undefined && { behaviour }),
    ...(settings !== undefined && { settings }),
    ...(durableObjects !== undefined && { durableObjects }),
    ...(redis !== undefined && { redis }),
  }
}

async function measure(
  testbed: Testbed,
  deployment: Deployment,
  variant: HttpVariant,
  round: number,
  seconds: number,
): Promise<Outcome> {
  const {
    method = 'POST',
    path,
    connections,
    keys = 1,
    rampSeconds = 0,
    leastSeconds = 1,
    counts,
    prepare,
    check,
  } = variant
  await prepare?.(deployment)
  const outcome = await measureLoad(testbed, deployment, {
    load: {
      method,
      url: `${deployment.url}${path}`,
      connections,
      keys,
      seed: round,
      rampSeconds,
      seconds: Math.max(seconds, leastSeconds),
    },
    warmUpSeconds: Math.min(seconds, keys > 1 ? 2 * WARM_UP_SECONDS : WARM_UP_SECONDS),
    warmUpConnections: Math.min(connections, MAX_WARM_UP_CONNECTIONS),
    count:
      counts === null ? null : typeof counts === 'string' ? () => deployment.sum(counts) : () => counts(deployment),
    ids: counts === 'published_slotted_counters',
  })
  outcome.violations.push(...((await check?.(deployment)) ?? []))
  if (outcome.violations.length > 0) {
    const log = await deployment.logTail()
    if (log !== '') outcome.violations.push(`the log ends with: ${log}`)
  }
  return outcome
}
