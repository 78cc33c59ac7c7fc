import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDatabaseServer } from '../../local/database/database-server.ts'
import { installPackages, isInstalled } from '../../local/processes/install-system-packages.ts'
import { buildWorker } from '../../local/worker/build-worker.ts'
import { MISSING_PACKAGES } from '../own-packages.ts'
import { BenchServer } from './measured-database.ts'
import { Vtgate } from './vtgate.ts'

/** The main modules of the Workers that are measured. */
const WORKERS = {
  product: 'product.ts',
  deployed: 'deployed.ts',
  uncounted: 'uncounted.ts',
  crons: 'crons.ts',
  baselines: 'baselines.ts',
  alternatives: 'alternatives.ts',
  empty: 'empty.ts',
}

export type WorkerName = keyof typeof WORKERS

/** What a variant may need beyond a database server of either product. */
export type Need = 'mysql' | 'mariadb' | 'vitess' | 'redis' | 'nginx' | 'web-counter'

const NAMES: Record<Need, string> = {
  mysql: 'MySQL',
  mariadb: 'MariaDB',
  vitess: 'Vitess',
  redis: 'Redis',
  nginx: 'nginx with GoAccess',
  'web-counter': 'web-counter',
}

/** What all measurements share: database servers, the built Workers and a temporary folder. */
export class Testbed {
  /** Aborted when the benchmark is to stop. */
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
   * Starts what is needed and records what is missing. Call `stop` afterwards, even if this fails.
   *
   * @param mysqlUrl a server to use instead of a temporary one: `MYSQL_URL`
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
      this.say(`Starting ${NAMES[product]} as the second server …`)
      try {
        const directory = join(this.#directory, product)
        this.#servers.push(new BenchServer(await startDatabaseServer({ directory, product, say: this.say })))
      } catch (error) {
        const hint = product === 'mysql' ? ' Set MYSQL_URL to use one.' : ''
        this.#missing.set(product, `${error instanceof Error ? error.message : String(error)}${hint}`)
      }
    }
    if (needs.has('vitess')) await this.#connectVtgate(process.env.VITESS_URL)
    if (needs.has('redis') && MISSING_PACKAGES !== null) this.#missing.set('redis', MISSING_PACKAGES)
    else if (needs.has('redis') && !(await hasRedis(this.say))) {
      this.#missing.set('redis', 'redis-server is not installed: sudo apt-get install redis-server')
    }
    // Not installed from here: the package starts a web server for everybody.
    if (needs.has('nginx') && !((await isInstalled('nginx')) && (await isInstalled('goaccess')))) {
      this.#missing.set('nginx', 'nginx or goaccess is not installed: sudo apt-get install nginx goaccess')
    }
    if (needs.has('web-counter') && !(await isInstalled('web-counter'))) {
      this.#missing.set('web-counter', 'web-counter is not installed: pipx install web-counter')
    }
    await Promise.all(this.#servers.map((server) => server.turnOnLogWriterThreads()))
    this.signal.throwIfAborted()
  }

  async #connectVtgate(url: string | undefined): Promise<void> {
    if (url === undefined) {
      this.#missing.set('vitess', 'set VITESS_URL to the MySQL port of a vtgate whose only unsharded keyspace is free.')
      return
    }
    const directory = join(this.#directory!, 'vitess')
    this.#servers.push(new Vtgate(await startDatabaseServer({ directory, mysqlUrl: url, say: this.say }), 'vitess'))
  }

  /** Why a need is not met, or `null` if it is. */
  missing(need: Need): string | null {
    const why = this.#missing.get(need)
    return why === undefined ? null : `${NAMES[need]} is missing: ${why}`
  }

  /** A database server. Default: the one that `MYSQL_URL` names, else the temporary one. */
  server(product?: BenchServer['product']): BenchServer {
    const server = product === undefined ? this.#servers[0] : this.#find(product)
    if (server === undefined) throw new Error(`There is no ${product} server.`)
    return server
  }

  /** All database servers, the default first. */
  get servers(): readonly BenchServer[] {
    return this.#servers
  }

  #find(product: BenchServer['product']): BenchServer | undefined {
    return this.#servers.find((server) => server.product === product)
  }

  /** The built module of a Worker. It is built on first use. */
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

  /** A temporary folder for one measurement. */
  newDirectory(): Promise<string> {
    return mkdtemp(join(this.#directory!, 'run-'))
  }

  /** Stops and removes everything. Reports failures and continues. */
  async stop(): Promise<void> {
    const attempt = (work: Promise<unknown>) =>
      work.catch((error: unknown) =>
        this.say(`Cleanup failed: ${error instanceof Error ? error.message : String(error)}`),
      )
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
