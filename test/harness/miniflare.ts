import { on, once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Miniflare } from 'miniflare'
import { unstable_readConfig } from 'wrangler'
import { PROJECT } from '../../local/project-root.ts'
import { localCounters } from '../../local/worker/local-counters.ts'

/** Milliseconds within which the inspector must answer. */
const INSPECTOR_MS = 30_000

/** How to run a built Worker with queues behind it. */
export interface QueuedWorkerOptions {
  /** The path of the module that `buildWorker` made. */
  script: string
  databaseUrl: string
  apiToken: string
  /** Settings that differ from wrangler.toml, by name: `COUNTERS`, `ROLLUP`, `PRUNING`. */
  settings?: Record<string, unknown>
  /** Called with each line of the Worker's log. */
  onLog?: (event: Record<string, unknown>) => void
}

/** A Worker on Miniflare, with the queues `BATCHES`, which it consumes, and `DEAD_BATCHES`, and with itself as `SELF`. */
export class QueuedWorker {
  readonly url: string
  readonly #miniflare: Miniflare

  private constructor(miniflare: Miniflare, url: string) {
    this.#miniflare = miniflare
    this.url = url
  }

  /** Starts a Worker, and waits until it answers. */
  static async start({ script, databaseUrl, apiToken, settings, onLog }: QueuedWorkerOptions): Promise<QueuedWorker> {
    const configured = unstable_readConfig({ config: join(PROJECT, 'wrangler.toml') }, { hideWarnings: true })
    const shipped = configured.vars as Record<string, unknown>
    const vars = { ...shipped, COUNTERS: localCounters(shipped.COUNTERS), ...settings }
    const compatibilityDate = configured.compatibility_date!
    const manifest = async (path: string) => ({
      mainModule: 'worker.js',
      modulesRoot: '/',
      modules: { 'worker.js': { type: 'esm' as const, contents: await readFile(path, 'utf8') } },
    })
    const miniflare = new Miniflare({
      host: '127.0.0.1',
      port: 0,
      inspectorPort: 0,
      logRequests: false,
      cf: false,
      handleStructuredLogs: ({ message }) => {
        if (message.startsWith('{"event"')) onLog?.(JSON.parse(message) as Record<string, unknown>)
      },
      workers: [
        {
          config: {
            type: 'worker',
            name: 'main',
            compatibilityDate,
            manifest: await manifest(script),
            env: {
              DATABASE_URL: { type: 'text', value: databaseUrl },
              API_TOKEN: { type: 'text', value: apiToken },
              ...Object.fromEntries(Object.entries(vars).map(([name, value]) => [name, { type: 'json', value }])),
              BATCHES: { type: 'queue', name: 'batches' },
              DEAD_BATCHES: { type: 'queue', name: 'dead-batches' },
              SELF: { type: 'worker', worker: 'main' },
            },
            triggers: [{ type: 'queue', name: 'batches', maxBatchSize: 100, maxBatchTimeout: 1, maxRetries: 100 }],
          },
          // The clients of these tests set CF-Connecting-IP.
          dev: { stripCfConnectingIp: false },
        },
        {
          config: {
            type: 'worker',
            name: 'queue-sink',
            compatibilityDate,
            manifest: await manifest(join(import.meta.dirname, 'queue-sink.js')),
            triggers: [{ type: 'queue', name: 'dead-batches', maxBatchTimeout: 0 }],
          },
        },
      ],
    })
    const { origin } = await miniflare.ready
    return new QueuedWorker(miniflare, origin)
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
