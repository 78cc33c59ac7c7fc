import type { Figures, Outcome } from '../topic.ts'
import { cpuMicros } from './process-cost.ts'
import type { Rig } from './rig.ts'
import type { Service } from './service.ts'
import { type Load, type LoadResult, runWrk } from './wrk.ts'

/** What to put on a service. */
export interface LoadOptions {
  load: Omit<Load, 'order'>
  warmUpSeconds: number
  warmUpConnections: number
  /** How much was counted, if it counts: then every answered request must be found there. */
  count: (() => Promise<number>) | null
  /** What goes on beside the load, from its beginning on, until it is told that the load is over. */
  beside?: (over: () => boolean) => Promise<void>
  /** Whether to look how many ids the published table has used up. */
  ids?: boolean
}

/** Warms a service up, puts load on it, and compares what was answered with what was counted. */
export async function measureLoad(
  rig: Rig,
  service: Service,
  { load, warmUpSeconds, warmUpConnections, count, beside, ids = false }: LoadOptions,
): Promise<Outcome> {
  const { connections } = load
  const settle = async () => (count === null ? undefined : service.settle(count))
  const warmUp = await runWrk(
    { ...load, connections: warmUpConnections, order: 'turn', rampSeconds: 0, seconds: warmUpSeconds },
    rig.signal,
  )
  const countedBefore = await settle()
  const waitsBefore = await service.server.waits()
  const [statementsBefore, cpuBefore] = [await service.statements(), await cpuMicros(service.pid)]
  let over = false
  const other = beside?.(() => over)
  // Whoever waits for it sees it fail.
  other?.catch(() => {})
  const result = await runWrk({ ...load, order: 'random' }, rig.signal).finally(() => {
    over = true
  })
  await other
  const cpu = await cpuMicros(service.pid)
  const counted = await settle()
  const statements = await service.statements()
  const waits = await service.server.waits()

  const { answered } = result
  const violations = [...errorsOf('the warm-up', warmUp), ...errorsOf('the run', result)]
  if (answered === 0) violations.push('no request was answered')
  const acknowledged = warmUp.answered + answered
  const most = acknowledged + warmUpConnections + connections
  if (counted !== undefined && (counted < acknowledged || counted > most)) {
    violations.push(`${counted} were counted, although ${acknowledged} were answered and ${most} were sent at most`)
  }

  const figures: Figures = { answered, acknowledged, perSecond: result.perSecond }
  if (counted !== undefined) figures.counted = counted
  figures.errors = errorCount(warmUp) + errorCount(result)
  if (answered === 0) return { figures, violations }
  figures.p50Ms = result.p50Ms
  figures.p99Ms = result.p99Ms
  // What was cut off was sent, and counted, all the same.
  const sent = counted === undefined || countedBefore === undefined ? answered : counted - countedBefore
  const per1000 = (number: number) => (number / sent) * 1_000
  figures.statementsPer1000 = per1000(statements - statementsBefore)
  if (cpuBefore !== null && cpu !== null) figures.cpuMicros = (cpu - cpuBefore) / answered
  if (count !== null) {
    figures.lockWaitsPer1000 = per1000(waits.lockWaits - waitsBefore.lockWaits)
    figures.deadlocksPer1000 = per1000(waits.deadlocks - waitsBefore.deadlocks)
    if (ids) figures.idsPer1000 = ((await burntIds(service)) / Math.max(counted ?? 0, 1)) * 1_000
  }
  return { figures, violations }
}

/** Ids of the published table that were used up and stand in no row. */
async function burntIds({ server, database }: Service): Promise<number> {
  const table = `\`${database}\`.published_slotted_counters`
  const [shown] = await server.query(`SHOW CREATE TABLE ${table}`)
  const [count] = await server.query(`SELECT COUNT(*) AS number FROM ${table}`)
  const next = Number(/AUTO_INCREMENT=(\d+)/.exec(String(shown?.['Create Table']))?.[1] ?? 1)
  return next - 1 - Number(count!.number)
}

function errorCount({ errors }: LoadResult): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0)
}

/** What went wrong under load, in words. */
export function errorsOf(when: string, result: LoadResult): string[] {
  const { connect, read, write, status, timeout } = result.errors
  if (errorCount(result) === 0) return []
  return [
    `${when} had ${status} answers with an error, and errors of ${connect} connects, ${read} reads, ${write} writes, ${timeout} timeouts`,
  ]
}
