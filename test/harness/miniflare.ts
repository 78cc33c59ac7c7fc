import { on, once } from 'node:events'
import { mkdtemp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Miniflare } from 'miniflare'
import { inject } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { readAssets, writeAssets } from '../../cli/assets/asset-files.ts'
import { PROJECT } from '../../local/project-root.ts'
import { localCounters } from '../../local/worker/local-counters.ts'

/** Milliseconds within which the inspector must answer. */
const INSPECTOR_MS = 30_000

/** How to run a built Worker. */
export interface BuiltWorkerOptions {
  /** The path of the module that `buildWorker` made. */
  script: string
  databaseUrl: string
  apiToken: string
  /** Settings that differ from wrangler.toml, by name: `COUNTERS`, `PLAN`, `PRUNING`. */
  settings?: Record<string, unknown>
}

/** How to run a built Worker with queues behind it. */
export interface QueuedWorkerOptions extends BuiltWorkerOptions {
  /** The path of the module of a Worker that has a service binding `COUNTER` to the entrypoint `Counter`. */
  caller?: string
  /** Called with each line of the Worker's log. */
  onLog?: (event: Record<string, unknown>) => void
}

const configured = unstable_readConfig({ config: join(PROJECT, 'wrangler.toml') }, { hideWarnings: true })

const OPTIONS = { host: '127.0.0.1', port: 0, inspectorPort: 0, logRequests: false, cf: false } as const

/** What every Worker on Miniflare has. */
async function commonConfig(name: string, script: string) {
  return {
    type: 'worker' as const,
    name,
    compatibilityDate: configured.compatibility_date!,
    manifest: {
      mainModule: 'worker.js',
      modulesRoot: '/',
      modules: { 'worker.js': { type: 'esm' as const, contents: await readFile(script, 'utf8') } },
    },
  }
}

/** The secrets and settings of a Worker. */
function bindingsOf({ databaseUrl, apiToken, settings }: BuiltWorkerOptions) {
  const shipped = configured.vars as Record<string, unknown>
  const vars = { ...shipped, SITES: '', COUNTERS: localCounters(shipped.COUNTERS), ...settings }
  return {
    DATABASE_URL: { type: 'text' as const, value: databaseUrl },
    API_TOKEN: { type: 'text' as const, value: apiToken },
    ...Object.fromEntries(Object.entries(vars).map(([name, value]) => [name, { type: 'json' as const, value }])),
  }
}

/** The Worker as it ships, with its static assets in front, as wrangler.toml says; under the setting `BASE_PATH`, if there is one. */
export async function startShippedWorker(options: BuiltWorkerOptions): Promise<{ url: string; stop(): Promise<void> }> {
  const { binding, run_worker_first: workerFirst } = configured.assets!
  const basePath = String(options.settings?.BASE_PATH ?? '')
  const shipped = join(PROJECT, configured.assets!.directory!)
  const directory = basePath === '' ? shipped : await mkdtemp(join(inject('scratch'), 'assets-'))
  if (basePath !== '') await writeAssets(await readAssets(shipped), directory, basePath)
  const runWorkerFirst = (workerFirst as string[]).map((path) => basePath + path)
  const miniflare = new Miniflare({
    ...OPTIONS,
    workers: [
      {
        config: {
          ...(await commonConfig('main', options.script)),
          env: { ...bindingsOf(options), [binding!]: { type: 'assets' } },
          assets: { directory, hasUserWorker: true, runWorkerFirst },
        },
        // The clients of these tests set CF-Connecting-IP.
        dev: { stripCfConnectingIp: false },
      },
    ],
  })
  const { origin } = await miniflare.ready
  return { url: origin, stop: () => miniflare.dispose() }
}

/** A Worker on Miniflare, with the queues `BATCHES`, which it consumes, and `DEAD_BATCHES`. */
export class QueuedWorker {
  readonly url: string
  readonly #miniflare: Miniflare

  private constructor(miniflare: Miniflare, url: string) {
    this.#miniflare = miniflare
    this.url = url
  }

  /** Starts a Worker, and waits until it answers. */
  static async start(options: QueuedWorkerOptions): Promise<QueuedWorker> {
    const { script, caller, onLog } = options
    const miniflare = new Miniflare({
      ...OPTIONS,
      handleStructuredLogs: ({ message }: { message: string }) => {
        if (message.startsWith('{"event"')) onLog?.(JSON.parse(message) as Record<string, unknown>)
      },
      workers: [
        {
          config: {
            ...(await commonConfig('main', script)),
            env: {
              ...bindingsOf(options),
              BATCHES: { type: 'queue', name: 'batches' },
              DEAD_BATCHES: { type: 'queue', name: 'dead-batches' },
            },
            triggers: [{ type: 'queue', name: 'batches', maxBatchSize: 100, maxBatchTimeout: 1, maxRetries: 100 }],
          },
          // The clients of these tests set CF-Connecting-IP.
          dev: { stripCfConnectingIp: false },
        },
        {
          config: {
            ...(await commonConfig('queue-sink', join(import.meta.dirname, 'queue-sink.js'))),
            triggers: [{ type: 'queue', name: 'dead-batches', maxBatchTimeout: 0 }],
          },
        },
        ...(caller === undefined
          ? []
          : [
              {
                config: {
                  ...(await commonConfig('caller', caller)),
                  env: { COUNTER: { type: 'worker' as const, worker: 'main', exportName: 'Counter' } },
                },
              },
            ]),
      ],
    })
    const { origin } = await miniflare.ready
    return new QueuedWorker(miniflare, origin)
  }

  /** Sends a request to the caller. */
  async askCaller(url: string): Promise<Response> {
    const caller = (await this.#miniflare.getWorker('caller')) as unknown as { fetch: typeof fetch }
    return caller.fetch(url)
  }

  /** Fires a cron trigger. */
  async cron(expression: string): Promise<void> {
    const main = (await this.#miniflare.getWorker('main')) as unknown as {
      scheduled(options: { cron: string }): Promise<{ outcome: string }>
    }
    const { outcome } = await main.scheduled({ cron: expression })
    if (outcome !== 'ok') throw new Error(`the run of ${expression} ended with ${outcome}`)
  }

  /** Takes what has come out of the dead-letter queue. */
  async deadLetters(): Promise<unknown[]> {
    // Its type is that of the Workers runtime, which Node does not have.
    const sink = (await this.#miniflare.getWorker('queue-sink')) as unknown as { fetch: typeof fetch }
    const response = await sink.fetch('http://sink/dead-batches')
    return (await response.json()) as unknown[]
  }

  /** The size of the Worker's heap after a garbage collection, in bytes. */
  async liveBytes(): Promise<number> {
    const { host } = await this.#miniflare.getInspectorURL()
    const socket = new WebSocket(`ws://${host}/core:user:main`)
    await once(socket, 'open', { signal: AbortSignal.timeout(INSPECTOR_MS) })
    const call = async (id: number, method: string): Promise<unknown> => {
      socket.send(JSON.stringify({ id, method }))
      for await (const [event] of on(socket, 'message', { signal: AbortSignal.timeout(INSPECTOR_MS) })) {
        const answer = JSON.parse(String((event as MessageEvent).data)) as { id?: number; result?: unknown }
        if (answer.id === id) return answer.result
      }
      throw new Error(`the inspector does not answer ${method}`)
    }
    try {
      // Collects garbage first. In workerd, HeapProfiler.collectGarbage does not report when it is done.
      await call(1, 'HeapProfiler.takeHeapSnapshot')
      const usage = (await call(2, 'Runtime.getHeapUsage')) as { usedSize: number; backingStorageSize: number }
      return usage.usedSize + usage.backingStorageSize
    } finally {
      socket.close()
    }
  }

  async stop(): Promise<void> {
    await this.#miniflare.dispose()
  }
}
