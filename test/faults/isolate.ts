import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { startWorkerd, type Workerd } from '../../local/workerd.ts'
import type { WorkerLoad } from '../harness/worker-load.ts'
import { TOKEN } from './client.ts'

/** Milliseconds in which an isolate must have done everything it was asked to. */
const IDLE_MS = 40_000

/** An isolate of the built Worker: a workerd of its own, in front of which nothing stands. */
export class Isolate {
  readonly #databaseUrl: string
  readonly #settings: Record<string, unknown>
  #workerd: Workerd

  private constructor(databaseUrl: string, settings: Record<string, unknown>, workerd: Workerd) {
    this.#databaseUrl = databaseUrl
    this.#settings = settings
    this.#workerd = workerd
  }

  /** Starts isolates that end with the test. */
  static async start(count: number, databaseUrl: string, settings: Record<string, unknown> = {}): Promise<Isolate[]> {
    const starting = Array.from({ length: count }, async () => {
      const isolate = new Isolate(databaseUrl, settings, await launch(databaseUrl, settings))
      onTestFinished(() => isolate.#workerd.stop())
      return isolate
    })
    return Promise.all(starting)
  }

  get url(): string {
    return this.#workerd.url
  }

  get port(): number {
    return this.#workerd.port
  }

  /** Ends it with kill -9, and starts one that knows nothing of it, elsewhere. */
  async replace(): Promise<void> {
    await this.#workerd.kill()
    this.#workerd = await launch(this.#databaseUrl, this.#settings)
  }

  async load(): Promise<WorkerLoad> {
    const response = await fetch(`${this.url}/test/load`, { signal: AbortSignal.timeout(IDLE_MS) })
    return (await response.json()) as WorkerLoad
  }

  /**
   * Waits until its load is such.
   *
   * @throws {Error} if that takes too long
   */
  async until(isSo: (load: WorkerLoad) => boolean): Promise<void> {
    for (const giveUpAt = Date.now() + IDLE_MS; ; ) {
      const load = await this.load()
      if (isSo(load)) return
      if (Date.now() > giveUpAt) throw new Error(`an isolate does not come to it: ${JSON.stringify(load)}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  /** Waits until nothing waits and nothing is on its way. */
  idle(): Promise<void> {
    return this.until(isIdle)
  }
}

/** Whether nothing waits and nothing is on its way. */
export function isIdle({ waiting, flushes }: WorkerLoad): boolean {
  return waiting === 0 && flushes === 0
}

async function launch(databaseUrl: string, settings: Record<string, unknown>): Promise<Workerd> {
  const directory = join(inject('scratch'), `isolate-${randomUUID()}`)
  return startWorkerd({ script: inject('builtWorker'), directory, databaseUrl, apiToken: TOKEN, settings })
}
