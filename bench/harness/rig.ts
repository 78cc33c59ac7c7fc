import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDatabaseServer } from '../../local/database-server.ts'
import { installPackages, isInstalled } from '../../local/packages.ts'
import { buildWorker } from '../../local/workerd.ts'
import { BenchServer } from './server.ts'

/** The Workers that are measured, by their main modules. */
const WORKERS = {
  product: 'product.ts',
  bare: 'bare.ts',
  alternatives: 'alternatives.ts',
  nothing: 'nothing.ts',
}

export type WorkerName = keyof typeof WORKERS

/** What a variant needs beyond a database server of whatever product. */
export type Need = 'mysql' | 'mariadb' | 'redis'

const NAMES: Record<Need, string> = { mysql: 'MySQL', mariadb: 'MariaDB', redis: 'Redis' }

/** What all measurements share: database servers, the built Workers, and a folder that goes away with it. */
export class Rig {
  /** Aborted when the bench is to stop: whatever takes long looks at it. */
  readonly signal: AbortSignal
  readonly say: (line: string) => void
  #directory: string | null = null
  readonly #servers: BenchServer[] = []
  readonly #missing = new Map<Need, string>()
  readonly #scripts = new Map<WorkerName, Promise<string>>()

  constructor({ signal, say }: { signal: AbortSignal; say: (line: string) => void }) {
    this.signal = signal
    this.say = say
  }

  /**
   * Starts what is needed; what cannot be had is missing. Whether it succeeds or not, `stop` takes it down.
   *
   * @param mysqlUrl a server to use instead of one of its own: `MYSQL_URL`
   * @throws {Error} that says what to do, if there is no database server at all
   */
  async start(mysqlUrl: string | undefined, needs: ReadonlySet<Need>): Promise<void> {
    this.#directory = await mkdtemp(join(tmpdir(), 'slotted-counter-bench-'))
    this.say('Starting the database …')
    const directory = join(this.#directory, 'database')
    this.#servers.push(new BenchServer(await startDatabaseServer({ directory, mysqlUrl, say: this.say })))
    for (const product of ['mysql', 'mariadb'] as const) {
      this.signal.throwIfAborted()
      if (!needs.has(product) || this.#find(product) !== undefined) continue
      this.say(`Starting ${NAMES[product]} beside it …`)
      try {
        const directory = join(this.#directory, product)
        this.#servers.push(new BenchServer(await startDatabaseServer({ directory, product, say: this.say })))
      } catch (error) {
        const hint = product === 'mysql' ? ' Name one with MYSQL_URL.' : ''
        this.#missing.set(product, `${error instanceof Error ? error.message : String(error)}${hint}`)
      }
    }
    if (needs.has('redis') && !(await hasRedis(this.say))) {
      this.#missing.set('redis', 'redis-server is not installed: sudo apt-get install redis-server')
    }
    this.signal.throwIfAborted()
  }

  /** Why something cannot be measured here; `null` if it can. */
  missing(need: Need): string | null {
    const why = this.#missing.get(need)
    return why === undefined ? null : `without ${NAMES[need]}: ${why}`
  }

  /** A database server. Default: the one that `MYSQL_URL` names, or that there is. */
  server(product?: 'mysql' | 'mariadb'): BenchServer {
    const server = product === undefined ? this.#servers[0] : this.#find(product)
    if (server === undefined) throw new Error(`There is no ${product} server.`)
    return server
  }

  /** All of them, the default first. */
  get servers(): readonly BenchServer[] {
    return this.#servers
  }

  #find(product: 'mysql' | 'mariadb'): BenchServer | undefined {
    return this.#servers.find((server) => server.product === product)
  }

  /** The built module of a Worker; built when it is first wanted. */
  scriptOf(worker: WorkerName): Promise<string> {
    let script = this.#scripts.get(worker)
    if (script === undefined) {
      this.say(`Building bench/workers/${WORKERS[worker]} …`)
      const entry = join(import.meta.dirname, '../workers', WORKERS[worker])
      script = buildWorker(join(this.#directory!, `built-${worker}`), entry)
      this.#scripts.set(worker, script)
    }
    return script
  }

  /** A folder for one measurement's things. */
  newDirectory(): Promise<string> {
    return mkdtemp(join(this.#directory!, 'run-'))
  }

  /** Takes everything down. Does what it can if something of it fails. */
  async stop(): Promise<void> {
    const attempt = (work: Promise<unknown>) =>
      work.catch((error: unknown) => this.say(`Cleaning up: ${error instanceof Error ? error.message : String(error)}`))
    for (const server of this.#servers) await server.stop(attempt)
    if (this.#directory !== null) {
      await attempt(rm(this.#directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }))
    }
  }
}

async function hasRedis(say: (line: string) => void): Promise<boolean> {
  if (await isInstalled('redis-server')) return true
  const packages = { debian: ['redis-server'], homebrew: ['redis'] }
  await installPackages(packages, 'Redis is needed for comparison and is not installed. Installing it:', say).catch(
    (error: Error) => say(error.message),
  )
  return isInstalled('redis-server')
}
