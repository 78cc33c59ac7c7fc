import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'

const FIRST_MS = 1_000
const MAX_MS = 60_000
/** Milliseconds without a failure after which the pause is back to the first one. */
const FORGET_MS = 600_000

/** The pause before each restart of a program that keeps failing: 1 s, doubled each time, at most 60 s. */
export class GrowingPause {
  #ms = 0
  #at = Number.NEGATIVE_INFINITY

  /** The next pause, in milliseconds. */
  next(now = Date.now()): number {
    this.#ms = now - this.#at > FORGET_MS ? FIRST_MS : Math.min(2 * this.#ms, MAX_MS)
    this.#at = now
    return this.#ms
  }
}

/** A program that is to run until `signal`. */
export interface KeptProgram {
  name: string
  /** Resolves when the last run that started has ended. */
  ended: () => Promise<unknown>
  restart: () => Promise<unknown>
  signal: AbortSignal
  say: (line: string, level?: 'error') => void
}

/** Restarts a program whenever it ends, after growing pauses. @returns resolves after `signal`, and after a restart in progress */
export async function keepRunning({ name, ended, restart, signal, say }: KeptProgram): Promise<void> {
  const pause = new GrowingPause()
  const aborted = once(signal, 'abort')
  for (;;) {
    await Promise.race([ended(), aborted])
    if (signal.aborted) return
    const ms = pause.next()
    say(`${name} ended unexpectedly. Restarting it in ${ms / 1_000} s …`, 'error')
    await setTimeout(ms, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    await restart().then(
      () => say(`${name} is running again.`),
      (error: Error) => say(error.message, 'error'),
    )
  }
}
