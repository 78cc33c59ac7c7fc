import type { Behaviour } from '../../local/planetscale/fault-injection.ts'
import { freePort } from '../../local/processes/free-port.ts'
import { logTail, startWorkerd, type Workerd, type WorkerdOptions } from '../../local/worker/workerd.ts'
import { type CountTable, createTables } from './create-tables.ts'
import { EndpointProcess } from './endpoint-process.ts'
import type { BenchServer } from './measured-database.ts'
import { type AppendFsync, Redis } from './redis-server.ts'
import type { Testbed, WorkerName } from './shared-testbed.ts'

/** The API token of the Workers that are measured. */
export const TOKEN = 'bench'

const QUIET_MS = 60
const POLL_MS = 10
const SETTLE_MS = 60_000

/** How to set up a deployment. */
export interface DeploymentOptions extends Pick<WorkerdOptions, 'inspectorPort' | 'settings' | 'durableObjects'> {
  worker: WorkerName
  /** Network and commit latency, and faults. */
  behaviour?: Partial<Behaviour>
  /** Default: the testbed's first. */
  server?: BenchServer
  /** Also starts Redis, whose HTTP proxy is bound to the Worker as REDIS_PROXY. */
  redis?: AppendFsync
}

/** A Worker in its own workerd, with its own endpoint and database. */
export interface Deployment {
  url: string
  /** The process id of workerd. */
  pid: number
  /** A temporary folder. */
  directory: string
  server: BenchServer
  /** Its Redis, if it has one. */
  redis: Redis | null
  database: string
  /** The database's URL at the endpoint. */
  databaseUrl: string
  /** Number of statements that this Worker has sent. */
  statements(): Promise<number>
  /** How long each statement of this Worker since the last call took, in milliseconds: from its request to the answer. */
  durations(): Promise<number[]>
  /** Sets the endpoint's latency and faults. */
  behave(behaviour: Partial<Behaviour>): Promise<void>
  /** The current sum of a table's counts. */
  sum(table: CountTable): Promise<number>
  /**
   * Waits until nothing is written any more: statements of requests that were cut off may be running or queued.
   *
   * @param count reads the count that must stop changing
   * @returns the final count
   */
  settle(count: () => Promise<number>): Promise<number>
  /**
   * Starts another workerd with the same Worker on the same database. It ends with the deployment. It has its own endpoint:
   * PlanetScale's serves many requests at once, but the local one is a single thread, in which they would queue.
   */
  startAnother(): Promise<Pick<Workerd, 'url' | 'pid'> & Pick<Deployment, 'statements' | 'durations'>>
  /** Ends workerd with SIGKILL, and starts it again on the same port. */
  killAndRestart(): Promise<void>
  /** The last lines of workerd's and the Worker's log. */
  logTail(): Promise<string>
}

/** Sets up a deployment, runs `work` with it, and tears it down. */
export async function withDeployment<T>(
  testbed: Testbed,
  { worker, behaviour = {}, server = testbed.server(), redis: fsync, ...options }: DeploymentOptions,
  work: (deployment: Deployment) => Promise<T>,
): Promise<T> {
  testbed.signal.throwIfAborted()
  const script = await testbed.scriptOf(worker)
  const directory = await testbed.newDirectory()
  const database = await server.createDatabase()
  let endpoint: EndpointProcess | undefined
  let workerd: Workerd | undefined
  let redis: Redis | null = null
  const others: (Workerd | EndpointProcess)[] = []
  try {
    if (fsync) redis = await Redis.start(await testbed.newDirectory(), fsync)
    const settings = { ...options.settings, ...(redis && { REDIS_PROXY: redis.url }) }
    const start = (place: Pick<WorkerdOptions, 'directory' | 'databaseUrl' | 'port'>) =>
      startWorkerd({ ...options, settings, script, apiToken: TOKEN, pollMs: POLL_MS, ...place })
    const endpointPort = await freePort()
    const databaseUrl = EndpointProcess.urlOf(database, endpointPort)
    // In parallel, because there are hundreds of runs. All are settled before an error is thrown, so that those that did start
    // are stopped.
    const [tables, endpointStart, workerdStart] = await Promise.allSettled([
      createTables(server, database),
      EndpointProcess.start(endpointPort, server.url),
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
      durations: () => started.durations(),
      behave: (changed) => started.behave(database, { ...behaviour, ...changed }),
      sum,
      settle: (count) => settle(testbed, started, count),
      async startAnother() {
        const ownPort = await freePort()
        const own = await EndpointProcess.start(ownPort, server.url)
        others.push(own)
        await own.behave(database, behaviour)
        const other = await start({
          directory: `${directory}/other-${ownPort}`,
          databaseUrl: EndpointProcess.urlOf(database, ownPort),
        })
        others.push(other)
        return {
          url: other.url,
          pid: other.pid,
          statements: async () => (await own.statements()).statements,
          durations: () => own.durations(),
        }
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

async function settle(testbed: Testbed, endpoint: EndpointProcess, count: () => Promise<number>): Promise<number> {
  const began = Date.now()
  let last = -1
  for (let quietSince = began; Date.now() - quietSince < QUIET_MS; ) {
    testbed.signal.throwIfAborted()
    if (Date.now() - began > SETTLE_MS) throw new Error(`Writes did not end within ${SETTLE_MS} ms.`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    // The endpoint responds between statements, so everything that it received before has begun.
    const { running } = await endpoint.statements()
    const now = await count()
    if (now !== last || running > 0) quietSince = Date.now()
    last = now
  }
  return last
}
