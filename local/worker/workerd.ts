import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { unstable_readConfig } from 'wrangler'
import { freePort } from '../processes/free-port.ts'
import { ServerProcess } from '../processes/server-process.ts'
import { PROJECT } from '../project-root.ts'
import { localCounters } from './local-counters.ts'

const START_MS = 60_000
const STOP_MS = 5_000

/** How to run a built Worker. */
export interface WorkerdOptions {
  /** The module that `buildWorker` returned. */
  script: string
  /** Folder for its configuration and its log, for this process only. */
  directory: string
  databaseUrl: string
  apiToken: string
  /** Variables that differ from wrangler.toml, such as `COUNTERS` or `PLAN`. Without `COUNTERS`, every page may count, and new keys are not limited. */
  settings?: Record<string, unknown>
  port?: number
  /** Port on 127.0.0.1 for the inspector. Default: no inspector. */
  inspectorPort?: number
  /** Durable Objects with SQLite storage: binding to class name. */
  durableObjects?: Record<string, string>
  /** A path to request until the Worker responds, with any status. Default: /healthz. */
  probe?: string
  /** Milliseconds between these requests. Default: 50. */
  pollMs?: number
}

/** A Worker on workerd without a proxy in front: one isolate on one thread. */
export interface Workerd {
  url: string
  port: number
  pid: number
  /** The log of workerd and of the Worker. */
  logFile: string
  /** Resolves with the exit code when it has ended for any reason. */
  ended: Promise<number>
  /** Kills it with SIGKILL. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/**
 * Runs a built Worker on bare workerd. Unlike under `wrangler dev`, a client that disconnects cancels its request, and no
 * proxy adds latency. It ends when this process ends.
 *
 * @throws {Error} if it does not start
 */
export async function startWorkerd(options: WorkerdOptions): Promise<Workerd> {
  const { script, directory, databaseUrl, apiToken, settings = {}, inspectorPort, durableObjects = {} } = options
  const { probe = '/healthz', pollMs = 50 } = options
  const port = options.port ?? (await freePort())
  await mkdir(directory, { recursive: true })
  const configured = unstable_readConfig({ config: join(PROJECT, 'wrangler.toml') }, { hideWarnings: true })
  const shipped = configured.vars as Record<string, unknown>
  const vars = { ...shipped, SITES: '', COUNTERS: withoutBudgets(localCounters(shipped.COUNTERS)), ...settings }
  const bindings = [
    `(name = "DATABASE_URL", text = ${text(databaseUrl)})`,
    `(name = "API_TOKEN", text = ${text(apiToken)})`,
    ...Object.entries(vars).map(([name, value]) => `(name = ${text(name)}, json = ${text(JSON.stringify(value))})`),
    ...Object.entries(durableObjects).map(
      ([name, of]) => `(name = ${text(name)}, durableObjectNamespace = (className = ${text(of)}))`,
    ),
  ]
  const objects = Object.values(durableObjects)
  const stored = join(directory, 'objects')
  if (objects.length > 0) await mkdir(stored, { recursive: true })
  const disk = `(name = "objects", disk = (path = ${text(stored)}, writable = true)),`
  const namespaces = objects.map((of) => `(className = ${text(of)}, uniqueKey = ${text(of)}, enableSql = true)`)
  const file = join(directory, 'workerd.capnp')
  // Relative, because workerd resolves a path with a leading slash below its import path.
  const module = relative(resolve(directory), resolve(script))
  await writeFile(
    file,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ ${objects.length > 0 ? disk : ''} (name = "main", worker = .worker), (name = "internet", network = (allow = ["private"])) ],
  sockets = [ (name = "http", address = "127.0.0.1:${port}", http = (), service = "main") ]
);
const worker :Workerd.Worker = (
  modules = [ (name = "worker.js", esModule = embed ${text(module)}) ],
  compatibilityDate = ${text(configured.compatibility_date!)},
  bindings = [ ${bindings.join(',\n    ')} ]${
    objects.length > 0
      ? `,
  durableObjectNamespaces = [ ${namespaces.join(', ')} ],
  durableObjectStorage = (localDisk = "objects")`
      : ''
  }
);
`,
  )
  const require = createRequire(createRequire(import.meta.url).resolve('wrangler'))
  const logFile = logFileIn(directory)
  const log = await open(logFile, 'a')
  const server = await ServerProcess.start({
    name: 'workerd',
    command: (require('workerd') as { default: string }).default,
    args: ['serve', file, ...(inspectorPort === undefined ? [] : [`--inspector-addr=127.0.0.1:${inspectorPort}`])],
    records: directory,
    marker: file,
    output: log.fd,
    graceMs: STOP_MS,
  })
  await log.close()
  const url = `http://127.0.0.1:${port}`
  const began = Date.now()
  for (;;) {
    const up = await fetch(url + probe).then(
      (response) => response.arrayBuffer(),
      () => null,
    )
    if (up !== null) break
    if (server.hasEnded || Date.now() - began > START_MS) {
      await server.stop()
      throw new Error(`workerd did not start. Its log ends with:\n${await logTail(directory)}`)
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  return {
    url,
    port,
    pid: server.pid,
    logFile,
    ended: server.ended,
    async kill() {
      process.kill(server.pid, 'SIGKILL')
      await server.ended
    },
    stop: () => server.stop(),
  }
}

/**
 * Types without a budget of new keys: tests and benchmarks, for which this Worker runs, bring thousands of keys into being. They
 * have no rate limits either, because no binding is passed on.
 */
function withoutBudgets(counters: Record<string, object>): Record<string, object> {
  const types = Object.entries(counters)
  return Object.fromEntries(types.map(([name, type]) => [name, { ...type, new_keys_per_minute: 'unlimited' }]))
}

/** The last lines of the log, without the path of its folder. */
export async function logTail(directory: string): Promise<string> {
  const text = await readFile(logFileIn(directory), 'utf8').catch(() => '')
  return text.replaceAll(`${directory}/`, '').trimEnd().split('\n').slice(-5).join('\n')
}

const logFileIn = (directory: string) => join(directory, 'workerd.log')

/** A text in Cap'n Proto's notation, which has the same escapes as JSON. */
const text = (value: string) => JSON.stringify(value)
