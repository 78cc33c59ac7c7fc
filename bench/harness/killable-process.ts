import type { ServerProcess } from '../../local/processes/server-process.ts'
import { childrenOf } from './process-usage.ts'

/** A server that may be killed. */
export class KillableProcess {
  readonly #launch: () => Promise<ServerProcess>
  #running: ServerProcess

  /**
   * @param launch starts it on its data, and resolves when it is ready
   * @param running what `launch` resolved with the first time
   */
  constructor(launch: () => Promise<ServerProcess>, running: ServerProcess) {
    this.#launch = launch
    this.#running = running
  }

  /** The ids of the process and of its children. */
  async pids(): Promise<number[]> {
    const { pid } = this.#running
    return [pid, ...(await childrenOf(pid))]
  }

  /** Ends the process and its children with SIGKILL, and starts it again on the same data. */
  async killAndRestart(): Promise<void> {
    await this.#running.kill()
    this.#running = await this.#launch()
  }

  stop(): Promise<void> {
    return this.#running.stop()
  }
}
