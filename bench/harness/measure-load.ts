import type { Deployment } from './deployment.ts'
import type { Figures } from './figure-names.ts'
import { cpuMicros } from './process-usage.ts'
import type { Testbed } from './shared-testbed.ts'
import type { Outcome } from './variant.ts'
import { type Load, type LoadResult, runWrk } from './wrk.ts'

/** A warm-up takes at most about twice as long. */
const MOST_WARM_UP_SECONDS = 8

/** The load to put on a deployment. */
export interface LoadOptions {
  load: Omit<Load, 'order'>
  warmUpSeconds: number
  warmUpConnections: number
  /** Reads the sum of all counts, or `null` if the route does not count. Every request answered must be in the sum. */
  count: (() => Promise<number>) | null
  /** Background work from the beginning of the load until it is `over`. */
  background?: (over: () => boolean) => Promise<void>
  /** Whether to look up how many ids the published table has wasted. */
  ids?: boolean
}

/** Warms up a deployment, puts load on it, and compares the requests answered with the hits counted. */
export async function measureLoad(
  testbed: Testbed,
  deployment: Deployment,
  { load, warmUpSeconds, warmUpConnections, count, background, ids = false }: LoadOptions,
): Promise<Outcome> {
  const { connections } = load
  const settle = async () => (count === null ? undefined : deployment.settle(count))
  const warmUps: LoadResult[] = []
  // Keys are sent in turn, until each is known: what is new costs more.
  for (let seconds = warmUpSeconds; (warmUps.at(-1)?.answered ?? -1) < load.keys; seconds *= 2) {
    const warmUp = { ...load, connections: warmUpConnections, order: 'turn' as const, rampSeconds: 0, seconds }
    warmUps.push(await runWrk(warmUp, testbed.signal))
    if (seconds > MOST_WARM_UP_SECONDS) break
  }
  const countedBefore = await settle()
  const waitsBefore = await deployment.server.waits()
  const [statementsBefore, cpuBefore] = [await deployment.statements(), await cpuMicros(deployment.pid)]
  let over = false
  const other = background?.(() => over)
  // A failure surfaces at the await below.
  other?.catch(() => {})
  const result = await runWrk({ ...load, order: 'random' }, testbed.signal).finally(() => {
    over = true
  })
  await other
  const cpu = await cpuMicros(deployment.pid)
  const counted = await settle()
  const statements = await deployment.statements()
  const waits = await deployment.server.waits()

  const { answered } = result
  const violations = [...warmUps.flatMap((warmUp) => errorsOf('the warm-up', warmUp)), ...errorsOf('the run', result)]
  if (answered === 0) violations.push('no request was answered')
  const acknowledged = warmUps.reduce((sum, warmUp) => sum + warmUp.answered, answered)
  const most = acknowledged + warmUps.length * warmUpConnections + connections
  if (counted !== undefined && (counted < acknowledged || counted > most)) {
    violations.push(`${counted} hits were counted, but ${acknowledged} were answered and at most ${most} were sent`)
  }

  const figures: Figures = { answered, acknowledged, perSecond: result.perSecond }
  if (counted !== undefined) figures.counted = counted
  figures.errors = [...warmUps, result].reduce((sum, one) => sum + errorCount(one), 0)
  if (answered === 0) return { figures, violations }
  figures.p50Ms = result.p50Ms
  figures.p99Ms = result.p99Ms
  // Requests that were cut off at the end were sent and counted, too.
  const sent = counted === undefined || countedBefore === undefined ? answered : counted - countedBefore
  const per1000 = (number: number) => (number / sent) * 1_000
  figures.statementsPer1000 = per1000(statements - statementsBefore)
  if (cpuBefore !== null && cpu !== null) figures.cpuMicros = (cpu - cpuBefore) / answered
  if (count !== null) {
    figures.lockWaitsPer1000 = per1000(waits.lockWaits - waitsBefore.lockWaits)
    figures.deadlocksPer1000 = per1000(waits.deadlocks - waitsBefore.deadlocks)
    if (ids) figures.idsPer1000 = ((await wastedIds(deployment)) / Math.max(counted ?? 0, 1)) * 1_000
  }
  return { figures, violations }
}

/** Number of auto-increment ids of the published table that no row has. */
async function wastedIds({ server, database }: Deployment): Promise<number> {
  const table = `\`${database}\`.published_slotted_counters`
  const [shown] = await server.query(`SHOW CREATE TABLE ${table}`)
  const [count] = await server.query(`SELECT COUNT(*) AS number FROM ${table}`)
  const next = Number(/AUTO_INCREMENT=(\d+)/.exec(String(shown?.['Create Table']))?.[1] ?? 1)
  return next - 1 - Number(count!.number)
}

function errorCount({ errors }: LoadResult): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0)
}

/** Errors under load, in words. */
function errorsOf(when: string, result: LoadResult): string[] {
  const { connect, read, write, status, timeout } = result.errors
  if (errorCount(result) === 0) return []
  return [
    `${when} had ${status} error responses, and errors in ${connect} connects, ${read} reads and ${write} writes, and ${timeout} time-outs`,
  ]
}
