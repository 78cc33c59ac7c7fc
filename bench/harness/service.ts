import { freePort } from '../../local/free-port.ts'
import type { Behaviour } from '../../local/planetscale/behaviour.ts'
import type { IsolationLevel } from '../../local/planetscale/branch.ts'
import { logTail, startWorkerd, type Workerd, type WorkerdOptions } from '../../local/workerd.ts'
import { EndpointProcess } from './endpoint.ts'
import { type Appendfsync, Redis } from './redis.ts'
import type { Rig, WorkerName } from './rig.ts'
import type { BenchServer } from './server.ts'
import { type CountTable, makeTables } from './tables.ts'

/** The token of the Workers that are measured. */
export const TOKEN = 'bench'

const QUIET_MS = 60
const POLL_MS = 10
const SETTLE_MS = 60_000

/** How to start a service. */
export interface ServiceOptions extends Pick<WorkerdOptions, 'inspectorPort' | 'settings' | 'durableObjects'> {
  worker: WorkerName
  /** Latency of network and commits, and faults. */
  behaviour?: Partial<Behaviour>
  /** Default: the rig's first. */
  server?: BenchServer
  /** Default: the server's. */
  isolation?: IsolationLevel
  /** Whether there is a Redis beside it, whose HTTP process the Worker finds as REDIS_HOP. */
  redis?: Appendfsync
}

/** A Worker on workerd of its own, an endpoint of its own, and a database of its own. */
export interface Service {
  url: string
  /** The process id of workerd. */
  pid: number
  /** A folder that goes away with it. */
  directory: string
  server: BenchServer
  /** The Redis beside it, if it has one. */
  redis: Redis | null
  database: string
  /** The database's URL at the endpoint. */
  databaseUrl: string
  /** Statements that the Worker sent so far. */
  statements(): Promise<number>
  /** Makes the endpoint slow or faulty. */
  behave(behaviour: Partial<Behaviour>): Promise<void>
  /** The sum of a table's counts at this moment. */
  sum(table: CountTable): Promise<number>
  /**
   * Waits until nothing is written any more, for statements of requests that were cut off may be under way or in a queue.
   *
   * @param count what must not change any more
   * @returns what it came to
   */
  settle(count: () => Promise<number>): Promise<number>
  /**
   * Starts another workerd with the same Worker on the same database, which ends with the service; tells its address. It has an
   * endpoint of its own: PlanetScale's answers many at once, the local one is a single thread, in which they would queue.
   */
  startAnother(): Promise<Pick<Workerd, 'url' | 'pid'>>
  /** Ends workerd as kill -9 does, and starts it again at the same place. */
  killAndRestart(): Promise<void>
  /** The last lines of workerd's and the Worker's log. */
  logTail(): Promise<string>
}

/** Starts a service, hands it over, and takes it down. */
export async function withService<T>(
  rig: Rig,
  { worker, behaviour = {}, server = rig.server(), isolation, redis: fsync, ...options }: ServiceOptions,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  rig.signal.throwIfAborted()
  const script = await rig.scriptOf(worker)
  const directory = await rig.newDirectory()
  const database = await server.createDatabase()
  let endpoint: EndpointProcess | undefined
  let workerd: Workerd | undefined
  let redis: Redis | null = null
  const others: (Workerd | EndpointProcess)[] = []
  try {
    if (fsync !== undefined) redis = await Redis.start(await rig.newDirectory(), fsync)
    const settings = { ...options.settings, ...(redis && { REDIS_HOP: redis.url }) }
    const start = (place: Pick<WorkerdOptions, 'directory' | 'databaseUrl' | 'port'>) =>
      startWorkerd({ ...options, settings, script, apiToken: TOKEN, pollMs: POLL_MS, ...place })
    const endpointPort = await freePort()
    const databaseUrl = EndpointProcess.urlOf(database, endpointPort)
    // All at once, for there are hundreds of runs; and whatever comes up is known before anything is thrown that did not.
    const [tables, endpointStart, workerdStart] = await Promise.allSettled([
      makeTables(server, database),
      EndpointProcess.start(endpointPort, server.url, isolation),
      start({ directory, databaseUrl }),
    ])
    if (endpointStart.status === 'fulfilled') endpoint = endpointStart.value
    if (workerdStart.status === 'fulfilled') workerd = workerdStart.value
    for (const part of [tables, endpointStart, workerdStart]) if (part.status === 'rejected') throw part.reason
    const started = endpoint!
    await started.behave(database, behaviour)
    const { url, pid, port } = workerd!
    const sum = async (table: CountTable): Promise<number> => {
      const [row] = await server.query(`SELECT COALESCE(SUM(count), 0) AS sum FROM \`${database}\`.${table}`)
      return Number(row!.sum)
    }
    return await work({
      url,
      pid,
      directory,
      server,
      redis,
      database,
      databaseUrl,
      statements: async () => (await started.statements()).statements,
      behave: (changed) => started.behave(database, { ...behaviour, ...changed }),
      sum,
      settle: (count) => settle(rig, started, count),
      async startAnother() {
        const ownPort = await freePort()
        const own = await EndpointProcess.start(ownPort, server.url, isolation)
        others.push(own)
        await own.behave(database, behaviour)
        const other = await start({
          directory: `${directory}/other-${ownPort}`,
          databaseUrl: EndpointProcess.urlOf(database, ownPort),
        })
        others.push(other)
        return other
      },
      async killAndRestart() {
        await workerd?.kill()
        workerd = await start({ directory, databaseUrl, port })
      },
      logTail: () => logTail(directory),
    })
  } finally {
    await Promise.allSettled([...others, workerd, endpoint, redis].map((process) => process?.stop()))
    await server.dropDatabase(database)
  }
}

async function settle(rig: Rig, endpoint: EndpointProcess, count: () => Promise<number>): Promise<number> {
  const began = Date.now()
  let last = -1
  for (let quietSince = began; Date.now() - quietSince < QUIET_MS; ) {
    rig.signal.throwIfAborted()
    if (Date.now() - began > SETTLE_MS) throw new Error(`Writing did not end within ${SETTLE_MS} ms.`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    // It answers between statements: whatever it had been sent before, it has begun.
    const { running } = await endpoint.statements()
    const now = await count()
    if (now !== last || running > 0) quietSince = Date.now()
    last = now
  }
  return last
}
