import type { Outcome, Variant } from '../topic.ts'
import { measureLoad } from './load.ts'
import type { Rig } from './rig.ts'
import { type Service, type ServiceOptions, withService } from './service.ts'
import type { CountTable } from './tables.ts'

const WARM_UP_SECONDS = 1
/** What is cut off at the end of the warm-up is waited for, which takes long where hits queue behind one row. */
const MAX_WARM_UP_CONNECTIONS = 64

/** A route under load. */
export interface HttpVariant
  extends Pick<Variant, 'name' | 'about' | 'table' | 'axes' | 'needs'>,
    Omit<ServiceOptions, 'server'> {
  /** The product to measure on. Default: the rig's first server, whatever it is. */
  server?: 'mysql' | 'mariadb'
  method?: 'GET' | 'POST'
  path: string
  connections: number
  /** Distinct keys in the bodies; 0 sends no body. Default: 1. */
  keys?: number
  /** Seconds until queues have grown to their length, which are left out of answers per second. Default: 0. */
  rampSeconds?: number
  /** Seconds to measure at least, if the topic measures for less. Default: 1. */
  leastSeconds?: number
  /** Where it counts, if it does: then every answered request must be found there. */
  counts: CountTable | ((service: Service) => Promise<number>) | null
  /** What goes on beside the load, until it is told that the load is over. */
  beside?(service: Service, over: () => boolean): Promise<void>
  /** Makes the database ready, before anything is measured. */
  prepare?(service: Service): Promise<void>
  /** Looks whether all is right, afterwards; tells what is not. */
  check?(service: Service): Promise<string[]>
}

/** Measures a route: warms it up, puts it under load, and compares what was answered with what was counted. */
export function httpVariant(variant: HttpVariant): Variant {
  const { name, about, table, axes, server } = variant
  const needs = [...(variant.needs ?? []), ...(server === undefined ? [] : [server])]
  if (variant.redis !== undefined) needs.push('redis')
  return {
    name,
    about,
    ...(table !== undefined && { table }),
    ...(axes !== undefined && { axes }),
    needs,
    measure: (rig, round, seconds) =>
      withService(rig, serviceOptions(rig, variant), (service) => measure(rig, service, variant, round, seconds)),
  }
}

function serviceOptions(rig: Rig, variant: HttpVariant): ServiceOptions {
  const { worker, behaviour, server, isolation, settings, durableObjects, redis } = variant
  return {
    worker,
    server: rig.server(server),
    ...(behaviour !== undefined && { behaviour }),
    ...(isolation !== undefined && { isolation }),
    ...(settings !== undefined && { settings }),
    ...(durableObjects !== undefined && { durableObjects }),
    ...(redis !== undefined && { redis }),
  }
}

async function measure(
  rig: Rig,
  service: Service,
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
    beside,
    check,
  } = variant
  await prepare?.(service)
  const outcome = await measureLoad(rig, service, {
    load: {
      method,
      url: `${service.url}${path}`,
      connections,
      keys,
      seed: round,
      rampSeconds,
      seconds: Math.max(seconds, leastSeconds),
    },
    // All keys in turn, so that every one is known when it counts; twice as long, because there are more of them.
    warmUpSeconds: Math.min(seconds, keys > 1 ? 2 * WARM_UP_SECONDS : WARM_UP_SECONDS),
    warmUpConnections: Math.min(connections, MAX_WARM_UP_CONNECTIONS),
    count: counts === null ? null : typeof counts === 'string' ? () => service.sum(counts) : () => counts(service),
    ...(beside && { beside: (over) => beside(service, over) }),
    ids: counts === 'published_slotted_counters',
  })
  outcome.violations.push(...((await check?.(service)) ?? []))
  if (outcome.violations.length > 0) {
    const log = await service.logTail()
    if (log !== '') outcome.violations.push(`the log ends with: ${log}`)
  }
  return outcome
}
