/** Requests that may wait in one isolate, which has 128 MB for everything. */
const MAX_REQUESTS = 8_192
/** Rows or counters that they may wait for. */
const MAX_ITEMS = 20_000
/** How many milliseconds after its announced silence a worker counts as dead. */
const GRACE_MS = 500
/** Weight of the latest measurement in the moving average. */
const WEIGHT = 1 / 8

/** Keeps work going after its request has been answered, or its client hung up. */
export type WaitUntil = (work: Promise<unknown>) => void

/** Too many requests wait for the database. Nothing was sent to it. */
export class Overloaded extends Error {}

/**
 * What requests of one isolate need to know in order to share work. On Workers, a request cannot use another request's I/O, promises or
 * timers, and may end at any `await` when its client hangs up. So requests share plain data only, under these rules:
 * - Every request polls the shared data on its own timers.
 * - The request that does the work records until when it may stay silent. Then another takes over, which must be safe beside the first.
 * - A time further ahead than anybody announces means that the clock was set back: it counts as expired (`isAhead`).
 * - The number of waiting requests is bounded.
 */
export class SharedWork {
  readonly #maxMs: number
  /** Requests that wait. Only `enter` changes it. */
  waiting = 0
  /** How long the work takes, in milliseconds: a moving average. Only `took` changes it. */
  durationMs = 4
  #items = 0

  /** @param maxMs the longest silence that a worker announces, and the longest duration that is told from longer ones */
  constructor(maxMs: number) {
    this.#maxMs = maxMs
  }

  /** Only requests for several items are refused for their number: else a few would keep out all others. @throws {Overloaded} */
  admit(items: number): void {
    if (this.waiting >= MAX_REQUESTS) throw new Overloaded()
    if (items > 1 && this.#items + items > MAX_ITEMS) throw new Overloaded()
  }

  /** Counts requests, and items that they wait for. Negative numbers take them off again. */
  enter(requests: number, items: number): void {
    this.waiting += requests
    this.#items += items
  }

  took(milliseconds: number): void {
    this.durationMs += (Math.min(Math.max(milliseconds, 0), this.#maxMs) - this.durationMs) * WEIGHT
  }

  /** Whether a worker that may be silent until a time has died. Both in milliseconds of `Date.now()`. */
  isDead(silentUntil: number, now: number): boolean {
    return !isAhead(silentUntil + GRACE_MS, now, this.#maxMs + 2 * GRACE_MS)
  }

  /** Milliseconds to the next poll: until the work should be done, then longer the longer it is overdue. */
  patience(expectedAt: number, now: number, maxMs: number): number {
    const left = expectedAt - now
    return Math.min(left > 0 ? Math.ceil(left) : Math.max(1, -left / 4), maxMs)
  }
}

/** Whether a time is in the future. One further ahead than it can have been set means that the clock was set back. */
export function isAhead(time: number, now: number, most: number): boolean {
  return time > now && time - now <= most
}

/** Waits on a timer of the calling request. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/** Waits for work, but not for long. @throws {Error} if it has not ended then, and what it throws */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
