import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { WorkerdStructuredLog } from 'miniflare'
import type { Unstable_RawConfig } from 'wrangler'
import { wranglerProgram } from '../../cli/wrangler-program.ts'
import { cronAt, type FireCron } from '../cron.ts'
import { keepRunning } from '../processes/keep-running.ts'
import { STOP_SIGNALS } from '../processes/service.ts'
import { logWorker } from './json-log.ts'

const RESTARTING: FireCron = async () => 'the Worker is being restarted'

/** How to run the Worker. */
export interface MiniflareWorkerOptions {
  /** wrangler.toml. */
  config: Unstable_RawConfig
  /** The built module. */
  script: string
  secrets: Record<string, string>
  /** A folder for this process only. It is emptied. */
  directory: string
  say: (line: string, level?: 'error') => void
}

/** The built Worker in Miniflare, with its files and rate limits. It is started again when workerd ends. */
export class MiniflareWorker {
  /** Where it listens to requests for a path and query, as a whole URL; `null` while it is down. */
  at: (url: string) => URL | null = () => null
  /** Runs a cron trigger, and returns its outcome. */
  scheduled: FireCron = RESTARTING
  readonly #options: MiniflareWorkerOptions
  readonly #stopped = new AbortController()
  /** Resolves when workerd has ended, or was stopped. */
  #ended: Promise<void> = Promise.resolve()
  /** Resolves when there will be no other run. */
  #kept: Promise<void> = Promise.resolve()

  private constructor(options: MiniflareWorkerOptions) {
    this.#options = options
  }

  /** @throws {Error} if it does not start */
  static async start(options: MiniflareWorkerOptions): Promise<MiniflareWorker> {
    const { directory } = options
    await rm(directory, { recursive: true, force: true })
    await mkdir(directory, { recursive: true })
    // A Miniflare that is killed would leave its folder in the system's.
    process.env.TMPDIR = directory
    process.env.MINIFLARE_WORKERD_PATH = await writeRunner(directory)
    // Only full collections: others leave what requests hold outside the heap, which is ten times as large.
    process.env.MINIFLARE_WORKERD_V8_FLAGS ??= '--gc-global --max-semi-space-size=4'
    const worker = new MiniflareWorker(options)
    await worker.#launch()
    worker.#kept = keepRunning({
      name: 'The Worker',
      ended: () => worker.#ended,
      restart: () => worker.#launch(),
      signal: worker.#stopped.signal,
      say: options.say,
    })
    return worker
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    // A restart in progress may begin another run.
    await this.#kept
    await this.#ended
  }

  async #launch(): Promise<void> {
    const { Log, LogLevel, Miniflare } = ofWrangler('miniflare') as typeof import('miniflare')
    const { config, script, secrets, say } = this.#options
    const crash = Promise.withResolvers<void>()
    const first = [config.assets!.run_worker_first ?? []].flat().map(String)
    const isFirst = (path: string) =>
      first.some((own) => path === own || (own.endsWith('/*') && path.startsWith(own.slice(0, -1))))
    const output = new Log(LogLevel.WARN)
    output.logWithLevel = (level, message) => {
      // Otherwise Miniflare would restart it at once, again and again.
      if (message.includes('runtime crashed unexpectedly')) crash.resolve()
      else if (level <= LogLevel.WARN) say(message, 'error')
    }
    const workerOf = (name: string, contents: string) => ({
      type: 'worker' as const,
      name,
      compatibilityDate: config.compatibility_date!,
      compatibilityFlags: config.compatibility_flags ?? [],
      manifest: {
        mainModule: 'worker.js',
        modulesRoot: '/',
        modules: { 'worker.js': { type: 'esm' as const, contents } },
      },
    })
    const socket = { host: '127.0.0.1', port: 0, proxy: true }
    const listening = STOP_SIGNALS.map((signal) => process.listenerCount(signal))
    const miniflare = new Miniflare({
      host: '127.0.0.1',
      port: 0,
      cf: false,
      logRequests: false,
      telemetry: { enabled: false },
      log: output,
      unsafeTriggerHandlers: true,
      handleStructuredLogs: ({ level, message, timestamp }: WorkerdStructuredLog) =>
        logWorker(level, message, timestamp),
      workers: [
        {
          config: {
            ...workerOf('main', await readFile(script, 'utf8')),
            env: Object.fromEntries([
              // No plan limits a run here.
              ...Object.entries({ ...config.vars, PLAN: 'paid' }).map(([name, value]) => [
                name,
                { type: 'json', value },
              ]),
              ...Object.entries(secrets).map(([name, value]) => [name, { type: 'text', value }]),
              ...(config.ratelimits ?? []).map(({ name, namespace_id, simple }) => {
                const props = { namespace: namespace_id, ...simple }
                return [name, { type: 'worker', worker: 'direct', exportName: 'RateLimit', props }]
              }),
              ['ASSETS', { type: 'assets' }],
            ]),
            assets: {
              directory: resolve(config.assets!.directory!),
              hasUserWorker: true,
              runWorkerFirst: config.assets!.run_worker_first ?? false,
            },
          },
          // Without Miniflare's own Worker in front, which takes orders from headers.
          dev: { stripCfConnectingIp: false, unsafeDirectSockets: [socket] },
        },
        // A way to the Worker without those for files, which take as much time and memory again.
        {
          config: workerOf('direct', DIRECT),
          dev: { unsafeDirectSockets: [{ ...socket, serviceName: 'main' }] },
        },
      ],
    })
    // Miniflare's listeners would end this process before the last answer.
    for (const [nth, signal] of STOP_SIGNALS.entries()) {
      for (const added of process.listeners(signal).slice(listening[nth])) process.removeListener(signal, added)
    }
    try {
      // Not `scheduled` of Miniflare: it stops this process, while workerd may wait for its log to be read.
      this.scheduled = cronAt(`${(await miniflare.ready).origin}/cdn-cgi/local/scheduled`)
      const withFiles = await miniflare.unsafeGetDirectURL('main')
      const direct = await miniflare.unsafeGetDirectURL('direct')
      this.at = (url) => (isFirst(url.split('?', 1)[0]!) ? direct : withFiles)
    } catch (error) {
      await miniflare.dispose()
      throw error
    }
    const down = Promise.race([crash.promise, this.#stopped.signal.aborted || once(this.#stopped.signal, 'abort')])
    this.#ended = down.then(() => {
      this.at = () => null
      this.scheduled = RESTARTING
      return miniflare.dispose().catch((error: Error) => this.#options.say(error.message, 'error'))
    })
  }
}

/** Rate limits in memory, of 100,000 networks: Miniflare's keep visitors' networks in files, and take a third of the time of a hit. */
const DIRECT = `import { WorkerEntrypoint } from 'cloudflare:workers'
const windows = new Map()
export class RateLimit extends WorkerEntrypoint {
  limit({ key }) {
    const { namespace, limit, period } = this.ctx.props
    const begin = Math.floor(Date.now() / 1000 / period)
    const id = namespace + ' ' + period
    if (windows.get(id)?.begin !== begin) windows.set(id, { begin, counts: new Map() })
    const { counts } = windows.get(id)
    const count = counts.get(key) ?? 0
    if (count < limit) counts.set(key, count + 1)
    if (counts.size > 100_000) counts.delete(counts.keys().next().value)
    return { success: count < limit }
  }
}
export default {}`

/** Loads a package that wrangler brings along. */
const ofWrangler = createRequire(wranglerProgram())

/** Writes a program that runs workerd, and ends it when this process is killed: Miniflare would leave it running. @returns its path */
async function writeRunner(directory: string): Promise<string> {
  const { default: workerd } = createRequire(ofWrangler.resolve('miniflare'))('workerd') as { default: string }
  const file = join(directory, 'workerd')
  const script = `#!/bin/sh
parent=$PPID self=$$
(
  while kill -0 "$parent" && kill -0 "$self"; do sleep 1; done
  kill -0 "$parent" || kill -9 "$self"
) </dev/null >/dev/null 2>&1 3>&- &
exec '${workerd.replaceAll("'", "'\\''")}' "$@"
`
  await writeFile(file, script, { mode: 0o700 })
  return file
}
