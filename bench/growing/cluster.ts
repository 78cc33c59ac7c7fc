import { execFile } from 'node:child_process'
import { chown, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { asRoot, createData, lastLines, temporaryFolder } from '../../local/database/data-directory.ts'
import type { DatabaseProgram } from '../../local/database/database-program.ts'
import { freePort, isFree } from '../../local/processes/free-port.ts'
import { ServerProcess } from '../../local/processes/server-process.ts'

const CELL = 'local'
const START_MS = 60_000
/** Short, because the data is not needed afterwards. */
const STOP_MS = 3_000
/** Milliseconds that one administrative command may take. */
const COMMAND_MS = 180_000
const NOBODY = 65_534
/** The account of the tablets. It has no password, as vtgate asks for none: everything listens on loopback only. */
const USER = 'vitess'
const ACCOUNTS = ['app', 'dba', 'appdebug', 'allprivs', 'repl', 'filtered']

/** How to start a cluster. */
export interface ClusterOptions {
  /** Folder with vtctld, vtctldclient, vtgate and vttablet. */
  vitess: string
  mysql: DatabaseProgram
  etcd: string
  /** Folder for data and logs. */
  directory: string
  signal: AbortSignal
}

/** A MySQL server with its vttablet. */
export interface Tablet {
  alias: string
  processes: ServerProcess[]
}

/** A Vitess cluster of one cell on this machine: etcd, vtctld, vtgate, and any number of tablets. */
export class Cluster {
  readonly #options: ClusterOptions
  readonly #processes: ServerProcess[] = []
  readonly #topology: string[] = []
  #vtctld = ''
  #tablets = 0

  constructor(options: ClusterOptions) {
    this.#options = options
  }

  /** Starts etcd and vtctld. Call `stop` afterwards, even if this fails. */
  async start(): Promise<void> {
    const [client, peer] = [await freePort(), await freePort()]
    await this.#run('etcd', this.#options.etcd, client, [
      `--data-dir=${join(this.#options.directory, 'etcd')}`,
      `--listen-client-urls=http://127.0.0.1:${client}`,
      `--advertise-client-urls=http://127.0.0.1:${client}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
    ])
    const address = `127.0.0.1:${client}`
    this.#topology.push('--topo-implementation=etcd2', `--topo-global-server-address=${address}`)
    this.#topology.push('--topo-global-root=/vitess/global')
    const port = await freePort()
    this.#vtctld = `127.0.0.1:${port}`
    await this.#runVitess('vtctld', 'vtctld', port, [
      `--cell=${CELL}`,
      '--service-map=grpc-vtctl,grpc-vtctld',
      `--port=${await freePort()}`,
      `--grpc-port=${port}`,
    ])
    await this.vtctl('AddCellInfo', `--root=/vitess/${CELL}`, `--server-address=${address}`, CELL)
  }

  /**
   * Runs vtctldclient.
   *
   * @returns what it printed
   * @throws {Error} with what it printed, if it fails or takes longer than 3 minutes
   */
  async vtctl(...args: string[]): Promise<string> {
    const { vitess, signal } = this.#options
    const options = { signal, timeout: COMMAND_MS, maxBuffer: 2 ** 26 }
    return promisify(execFile)(join(vitess, 'vtctldclient'), [`--server=${this.#vtctld}`, ...args], options).then(
      ({ stdout }) => stdout,
      (error: Error & { stderr?: string }) => {
        throw new Error(`vtctldclient ${args.join(' ')}: ${lastLines(error.stderr || error.message)}`)
      },
    )
  }

  /**
   * Starts vtgate.
   *
   * @param buffers whether it holds writes back while their shard has no primary
   * @returns the URL of its MySQL port
   */
  async startVtgate(buffers: boolean): Promise<string> {
    const port = await freePort()
    await this.#runVitess('vtgate', 'vtgate', port, [
      `--cell=${CELL}`,
      `--cells-to-watch=${CELL}`,
      '--tablet-types-to-wait=PRIMARY',
      // Otherwise it may take a minute to hear of new tablets.
      '--tablet-refresh-interval=5s',
      '--service-map=grpc-vtgateservice',
      `--port=${await freePort()}`,
      `--grpc-port=${await freePort()}`,
      `--mysql-server-port=${port}`,
      '--mysql-server-bind-address=127.0.0.1',
      '--mysql-auth-server-impl=none',
      ...(buffers ? ['--enable-buffer'] : []),
    ])
    return `mysql://root@127.0.0.1:${port}`
  }

  /** Starts an empty MySQL server with a vttablet, as a replica of a shard that may have no primary yet. */
  async startTablet(keyspace: string, shard: string): Promise<Tablet> {
    const { mysql } = this.#options
    const id = 100 + this.#tablets++
    const directory = join(this.#options.directory, `mysql-${id}`)
    await mkdir(directory)
    const data = join(directory, 'data')
    await rename(await createData(mysql, directory), data)
    const init = join(directory, 'init.sql')
    // Not in the binary log: a replica must have no transactions but those of its primary.
    await writeFile(
      init,
      `SET sql_log_bin = 0;\nCREATE USER ${USER}@'127.0.0.1';\nGRANT ALL ON *.* TO ${USER}@'127.0.0.1' WITH GRANT OPTION;\n`,
    )
    const port = await freePort()
    const server = await this.#run(`mysql-${id}`, mysql.path, port, [
      '--no-defaults',
      ...asRoot(),
      `--datadir=${data}`,
      await temporaryFolder(directory),
      `--init-file=${init}`,
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      // Relative to the data directory, because paths of sockets are limited to about 100 bytes.
      '--socket=server.sock',
      `--pid-file=${join(directory, 'server.pid')}`,
      `--server-id=${id}`,
      '--mysqlx=OFF',
      '--secure-file-priv=NULL',
      '--skip-name-resolve',
      '--skip-replica-start',
      '--character-set-server=utf8mb4',
      '--default-time-zone=+00:00',
      '--max-connections=500',
      '--innodb-buffer-pool-size=64M',
      '--innodb-flush-log-at-trx-commit=1',
      '--log-bin=binlog',
      '--sync-binlog=1',
      '--gtid-mode=ON',
      '--enforce-gtid-consistency=ON',
      // As Vitess configures MySQL (config/mycnf/mysql84.cnf), so that a new primary is followed soon.
      '--replica-net-timeout=8',
    ])
    const alias = `${CELL}-${id}`
    const grpcPort = await freePort()
    const tablet = await this.#runVitess(`vttablet-${id}`, 'vttablet', grpcPort, [
      `--tablet-path=${alias}`,
      '--tablet-hostname=127.0.0.1',
      `--init-keyspace=${keyspace}`,
      `--init-shard=${shard}`,
      '--init-tablet-type=replica',
      '--service-map=grpc-queryservice,grpc-tabletmanager,grpc-updatestream',
      `--port=${await freePort()}`,
      `--grpc-port=${grpcPort}`,
      '--health-check-interval=5s',
      '--db-host=127.0.0.1',
      `--db-port=${port}`,
      ...ACCOUNTS.flatMap((account) => [`--db-${account}-user=${USER}`, `--db-${account}-use-ssl=false`]),
      '--queryserver-config-pool-size=30',
      '--queryserver-config-transaction-cap=60',
      // As on PlanetScale.
      '--queryserver-config-max-result-size=100000',
      '--queryserver-config-transaction-timeout=20s',
    ])
    return { alias, processes: [tablet, server] }
  }

  /** Stops a tablet that serves nothing any more. */
  async stopTablet({ processes }: Tablet): Promise<void> {
    for (const process of processes) await this.#stopProcess(process)
  }

  /** Stops everything. */
  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop()))
  }

  async #stopProcess(process: ServerProcess): Promise<void> {
    await process.stop()
    this.#processes.splice(this.#processes.indexOf(process), 1)
  }

  async #runVitess(name: string, program: string, port: number, args: string[]): Promise<ServerProcess> {
    const { vitess, directory } = this.#options
    const data = join(directory, name)
    await mkdir(data)
    const command = join(vitess, program)
    const all = [
      ...this.#topology,
      '--bind-address=127.0.0.1',
      '--grpc-bind-address=127.0.0.1',
      '--logtostderr',
      ...args,
    ]
    const env = { ...process.env, VTDATAROOT: data }
    if (process.getuid?.() !== 0) return this.#run(name, command, port, all, env)
    // Vitess refuses to run as root.
    await chown(data, NOBODY, NOBODY)
    const asNobody = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', command]
    return this.#run(name, 'setpriv', port, [...asNobody, ...all], env)
  }

  /** Starts a process and waits until it listens on a port. */
  async #run(
    name: string,
    command: string,
    port: number,
    args: string[],
    env: NodeJS.ProcessEnv = process.env,
  ): Promise<ServerProcess> {
    const { directory, signal } = this.#options
    signal.throwIfAborted()
    const logFile = join(directory, `${name}.log`)
    const log = await open(logFile, 'a')
    const options = { name, command, args, env, records: directory, marker: String(port), graceMs: STOP_MS }
    const started = await ServerProcess.start({ ...options, output: log.fd }).finally(() => log.close())
    this.#processes.push(started)
    let code: number | null = null
    void started.ended.then((ended) => {
      code = ended
    })
    const giveUpAt = Date.now() + START_MS
    while (await isFree(port)) {
      signal.throwIfAborted()
      if (code !== null || Date.now() > giveUpAt) {
        throw new Error(`${name} did not start. Its log ends with:\n${lastLines(await readFile(logFile, 'utf8'))}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return started
  }
}
