import { onTestFinished, vi } from 'vitest'
import { bePatient } from './patience.ts'

/**
 * Holds back some statements of the Workers that are made after it, while it is closed: so that requests meet, however slow or fast
 * the machine is. It ends with the current test.
 */
export class Gate {
  #opened = Promise.resolve()
  #open = () => {}
  /** How many statements it has held back. */
  waiting = 0

  /** @param match the statements to hold back */
  constructor(match: RegExp) {
    bePatient()
    const { fetch } = globalThis
    vi.stubGlobal('fetch', async (...[input, init]: Parameters<typeof fetch>) => {
      if (match.test(String(init?.body))) {
        this.waiting++
        await this.#opened
      }
      return fetch(input, init)
    })
    // If the test fails in the meantime, nothing must wait for it.
    onTestFinished(() => this.open())
  }

  close(): void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#opened = promise
    this.#open = resolve
  }

  open(): void {
    this.#open()
  }
}
