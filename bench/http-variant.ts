import { readFile } from 'node:fs/promises'
import type { Behaviour } from '../local/planetscale/behaviour.ts'
import type { Rig, WorkerName } from './rig.ts'
import { type CountTable, type Service, withService } from './service.ts'
import type { Figures, Outcome, Variant } from './topic.ts'
import { type LoadResult, runWrk } from './wrk.ts'

/** Linux counts CPU time in these, on every architecture there is. */
const TICK_MICROS = 10_000

const WARM_UP_SECONDS = 1
/** What is cut off at the end of the warm-up is waited for, which takes long where hits queue behind one row. */
const MAX_WARM_UP_CONNECTIONS = 64

/** A route under load. */
export interface HttpVariant {
  name: string
  about: string
  worker: WorkerName
  method?: 'GET' | 'POST'
  path: string
  connections: number
  /** Distinct keys in the bodies; 0 sends no body. Default: 1. */
  keys?: number
  behaviour?: Partial<Behaviour>
  /** Seconds until queues have grown to their length, which are left out of answers per second. Default: 0. */
  rampSeconds?: number
  /** Where it counts, if it does: then every answered request must be found there. */
  counts: CountTable | null
}

/** Measures a route: warms it up, puts it under load, and compares what was answered with what was counted. */
export function httpVariant(variant: HttpVariant): Variant {
  const { name, about, worker, behaviour = {} } = variant
  return {
    name,
    about,
    measure: (rig, round, seconds) =>
      withService(rig, { worker, behaviour }, (service) => measure(rig, service, variant, round, seconds)),
  }
}

async function measure(
  rig: Rig,
  service: Service,
  { method = 'POST', path, connections, keys = 1, rampSeconds = 0, counts }: HttpVariant,
  round: number,
  seconds: number,
): Promise<Outcome> {
  const load = { method, url: `${service.url}${path}`, connections, keys, seed: round }
  const settle = async () => (counts === null ? undefined : service.settle(counts))
  // All keys in turn, so that every one is known when it counts; twice as long, because there are more of them.
  const warmUpSeconds = keys > 1 ? 2 * WARM_UP_SECONDS : WARM_UP_SECONDS
  const warmUpConnections = Math.min(connections, MAX_WARM_UP_CONNECTIONS)
  const warmUp = await runWrk(
    { ...load, connections: warmUpConnections, order: 'turn', rampSeconds: 0, seconds: warmUpSeconds },
    service.directory,
    rig.signal,
  )
  const countedBefore = await settle()
  const [statementsBefore, cpuBefore] = [await service.statements(), await cpuMicros(service.pid)]
  const result = await runWrk({ ...load, order: 'random', rampSeconds, seconds }, service.directory, rig.signal)
  const cpu = await cpuMicros(service.pid)
  const counted = await settle()
  const statements = await service.statements()

  const { answered } = result
  const violations = [...errorsOf('the warm-up', warmUp), ...errorsOf('the run', result)]
  if (answered === 0) violations.push('no request was answered')
  const acknowledged = warmUp.answered + answered
  const most = acknowledged + warmUpConnections + connections
  if (counted !== undefined && (counted < acknowledged || counted > most)) {
    violations.push(`${counted} were counted, although ${acknowledged} were answered and ${most} were sent at most`)
  }
  const log = violations.length > 0 ? await service.logTail() : ''
  if (log !== '') violations.push(`the log ends with: ${log}`)

  const figures: Figures = { answered, acknowledged, perSecond: result.perSecond }
  if (counted !== undefined) figures.counted = counted
  figures.errors = errorCount(warmUp) + errorCount(result)
  if (answered > 0) {
    figures.p50Ms = result.p50Ms
    figures.p99Ms = result.p99Ms
    // What was cut off was sent, and counted, all the same.
    const sent = counted === undefined || countedBefore === undefined ? answered : counted - countedBefore
    figures.statementsPer1000 = ((statements - statementsBefore) / sent) * 1_000
    if (cpuBefore !== null && cpu !== null) figures.cpuMicros = (cpu - cpuBefore) / answered
  }
  return { figures, violations }
}

function errorCount({ errors }: LoadResult): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0)
}

function errorsOf(when: string, result: LoadResult): string[] {
  const { connect, read, write, status, timeout } = result.errors
  if (errorCount(result) === 0) return []
  return [
    `${when} had ${status} answers with an error, and errors of ${connect} connects, ${read} reads, ${write} writes, ${timeout} timeouts`,
  ]
}

/** CPU time of a process so far, in microseconds; `null` where the system does not tell. */
async function cpuMicros(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return null
  // proc(5): pid (name) state …, of which the 12th and 13th from the state on are user and system time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS
}
