import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { startWorkerd, type Workerd } from '../../local/worker/workerd.ts'
import type { WorkerLoad } from '../harness/worker-load.ts'
import { AUTHORIZED, TOKEN } from './client.ts'
import { VISITS } from './counters.ts'

/** Milliseconds within which an isolate must finish its work. */
const IDLE_MS = 90_000

/** An isolate of the built Worker: one workerd process, with nothing in front of it. */
export class Isolate {
  readonly #databaseUrl: string
  readonly #settings: Record<string, unknown>
  #workerd: Workerd

  private constructor(databaseUrl: string, settings: Record<string, unknown>, workerd: Workerd) {
    this.#databaseUrl = databaseUrl
    this.#settings = settings
    this.#workerd = workerd
  }

  /** Starts isolates. They stop when the test ends. */
  static async start(
    count: number,
    databaseUrl: string,
    settings: Record<string, unknown> = VISITS,
  ): Promise<Isolate[]> {
    const starting = Array.from({ length: count }, async () => {
      const isolate = new Isolate(databaseUrl, settings, await launch(databaseUrl, settings))
      onTestFinished(() => isolate.#workerd.stop())
      return isolate
    })
    const isolates = await Promise.all(starting)
    const rolledUp = await fetch(`${isolates[0]!.url}/v1/rollup`, {
      method: 'POST',
      headers: AUTHORIZED,
    })
    if (!rolledUp.ok) throw new Error(await rolledUp.text())
    return isolates
  }

  get url(): string {
    return this.#workerd.url
  }

  get port(): number {
    return this.#workerd.port
  }

  /** Kills it with -9 and starts a new one at another port. */
  async replace(): Promise<void> {
    await this.#workerd.kill()
    this.#workerd = await launch(this.#databaseUrl, this.#settings)
  }

  async load(): Promise<WorkerLoad> {
    const response = await fetch(`${this.url}/test/load`, { signal: AbortSignal.timeout(IDLE_MS) })
    return (await response.json()) as WorkerLoad
  }

  /**
   * Waits until the load meets a condition.
   *
   * @param giveUpAt default: in 90 s
   * @throws {Error} if it does not until then
   */
  async until(isMet: (load: WorkerLoad) => boolean, giveUpAt = Date.now() + IDLE_MS): Promise<void> {
    for (;;) {
      const load = await this.load()
      if (isMet(load)) return
      if (Date.now() > giveUpAt) throw new Error(`the isolate does not get there: ${JSON.stringify(load)}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  /** Waits until no request waits and no flush is in flight. */
  idle(): Promise<void> {
    return this.until(isIdle)
  }
}

/** Whether no request waits and no flush is in flight. */
export function isIdle({ waiting, flushes }: WorkerLoad): boolean {
  return waiting === 0 && flushes === 0
}

async function launch(databaseUrl: string, settings: Record<string, unknown>): Promise<Workerd> {
  const directory = join(inject('scratch'), `isolate-${randomUUID()}`)
  return startWorkerd({
    script: inject('builtWorker'),
    directory,
    databaseUrl,
    apiToken: TOKEN,
    settings: { SHARDING: { ranges: inject('ranges') }, ...settings },
  })
}
