import { migrate } from '../local/migrations.ts'
import type { Behaviour } from '../local/planetscale/behaviour.ts'
import { logTail, startWorkerd, type Workerd } from '../local/workerd.ts'
import { EndpointProcess } from './endpoint.ts'
import type { Rig, WorkerName } from './rig.ts'

/** Tables of what the product is compared with; the second as it was published. */
const BASELINE_TABLES = [
  `CREATE TABLE one_row_counters (
     record_type INT NOT NULL,
     record_id BIGINT UNSIGNED NOT NULL,
     count BIGINT NOT NULL,
     PRIMARY KEY (record_type, record_id)
   )`,
  `CREATE TABLE published_slotted_counters (
     id INT NOT NULL AUTO_INCREMENT,
     record_type INT NOT NULL,
     record_id INT NOT NULL,
     slot INT NOT NULL DEFAULT 0,
     count INT DEFAULT NULL,
     PRIMARY KEY (id),
     UNIQUE KEY records_and_slots (record_type, record_id, slot)
   )`,
]

/** A table whose sum says how much was counted. */
export type CountTable = 'slotted_counters' | 'one_row_counters' | 'published_slotted_counters'

const QUIET_MS = 100
const POLL_MS = 20
const SETTLE_MS = 60_000

/** How to start a service. */
export interface ServiceOptions {
  worker: WorkerName
  /** Latency of network and commits. */
  behaviour?: Partial<Behaviour>
  inspectorPort?: number
}

/** A Worker on workerd of its own, an endpoint of its own, and a database of its own. */
export interface Service {
  url: string
  /** The process id of workerd. */
  pid: number
  /** A folder that goes away with it. */
  directory: string
  /** Statements that the Worker sent so far. */
  statements(): Promise<number>
  /**
   * Waits until nothing is written any more, for statements of requests that were cut off may be under way or in a queue.
   *
   * @returns the sum of a table's counts
   */
  settle(table: CountTable): Promise<number>
  /** The last lines of workerd's and the Worker's log. */
  logTail(): Promise<string>
}

/** Starts a service, hands it over, and takes it down. */
export async function withService<T>(
  rig: Rig,
  { worker, behaviour = {}, inspectorPort }: ServiceOptions,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  rig.signal.throwIfAborted()
  const directory = await rig.newDirectory()
  const database = await rig.createDatabase()
  let endpoint: EndpointProcess | undefined
  let workerd: Workerd | undefined
  try {
    await migrate({ databaseUrl: `${rig.mysqlUrl}/${database}`, say: () => {} })
    for (const table of BASELINE_TABLES) await rig.query(table.replace('TABLE ', `TABLE \`${database}\`.`))
    endpoint = await EndpointProcess.start(rig.mysqlUrl)
    await endpoint.behave(database, behaviour)
    const databaseUrl = endpoint.urlOf(database)
    workerd = await startWorkerd({
      script: rig.scriptOf(worker),
      directory,
      databaseUrl,
      apiToken: 'bench',
      ...(inspectorPort !== undefined && { inspectorPort }),
    })
    return await work(serviceOf(rig, directory, database, endpoint, workerd))
  } finally {
    await workerd?.stop()
    await endpoint?.stop()
    await rig.dropDatabase(database)
  }
}

function serviceOf(
  rig: Rig,
  directory: string,
  database: string,
  endpoint: EndpointProcess,
  workerd: Workerd,
): Service {
  const sum = async (table: CountTable): Promise<number> => {
    const [row] = await rig.query(`SELECT COALESCE(SUM(count), 0) AS sum FROM \`${database}\`.${table}`)
    return Number(row!.sum)
  }
  return {
    url: workerd.url,
    pid: workerd.pid,
    directory,
    statements: async () => (await endpoint.statements()).statements,
    async settle(table) {
      const began = Date.now()
      let last = -1
      for (let quietSince = began; Date.now() - quietSince < QUIET_MS; ) {
        rig.signal.throwIfAborted()
        if (Date.now() - began > SETTLE_MS) throw new Error(`Writing did not end within ${SETTLE_MS} ms.`)
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
        // It answers between statements: whatever it had been sent before, it has begun.
        const { running } = await endpoint.statements()
        const now = await sum(table)
        if (now !== last || running > 0) quietSince = Date.now()
        last = now
      }
      return last
    },
    logTail: () => logTail(directory),
  }
}
