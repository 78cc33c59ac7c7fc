/** A timer that waits. */
interface Timer {
  at: number
  /** Timers of the same instant run in the order in which they were set. */
  order: number
  run: (() => void) | null
}

/** The real ones, from before any clock was installed. */
const realImmediate = globalThis.setImmediate

/**
 * A clock that stands still while code runs, and jumps to the next timer when all promises are settled. So the product's own code
 * runs unchanged, as fast as the processor allows, and always in the same order.
 *
 * Once installed, it is what `Date.now`, `new Date()`, `setTimeout` and `clearTimeout` of this process use. Install it in a process
 * of its own.
 */
export class VirtualClock {
  #now: number
  #order = 0
  readonly #heap: Timer[] = []

  /** @param startsAt milliseconds since 1970 */
  constructor(startsAt: number) {
    this.#now = startsAt
  }

  /** Milliseconds since 1970, with fractions. */
  get now(): number {
    return this.#now
  }

  install(): void {
    const clock = this
    const RealDate = globalThis.Date
    class VirtualDate extends RealDate {
      constructor(...args: unknown[]) {
        if (args.length === 0) super(Math.floor(clock.#now))
        else super(...(args as [number]))
      }
      // Whole milliseconds, as in workerd.
      static override now(): number {
        return Math.floor(clock.#now)
      }
    }
    globalThis.Date = VirtualDate as DateConstructor
    const set = (run: (...args: unknown[]) => void, milliseconds = 0, ...args: unknown[]) =>
      this.after(milliseconds, args.length === 0 ? run : () => run(...args))
    globalThis.setTimeout = set as unknown as typeof setTimeout
    globalThis.clearTimeout = ((timer: Timer | undefined) => {
      if (timer !== undefined && timer !== null) timer.run = null
    }) as typeof clearTimeout
  }

  /** Runs something after some milliseconds, which may have fractions. */
  after(milliseconds: number, run: () => void): Timer {
    const timer = { at: this.#now + Math.max(0, milliseconds), order: this.#order++, run }
    this.#push(timer)
    return timer
  }

  /** Resolves after some milliseconds. */
  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(milliseconds, resolve)
    })
  }

  /** Lets time pass until an instant, or until something has happened. */
  async runUntil(at: number, done: () => boolean = () => false): Promise<void> {
    while (!done()) {
      const next = this.#heap[0]
      if (next === undefined || next.at > at) break
      this.#pop()
      if (next.run === null) continue
      this.#now = Math.max(this.#now, next.at)
      next.run()
      // A macrotask of Node.js begins only when no microtask is left.
      await new Promise((resolve) => realImmediate(resolve))
    }
    if (!done()) this.#now = Math.max(this.#now, at)
  }

  #push(timer: Timer): void {
    const heap = this.#heap
    let child = heap.length
    heap.push(timer)
    while (child > 0) {
      const parent = (child - 1) >> 1
      if (!before(timer, heap[parent]!)) break
      heap[child] = heap[parent]!
      child = parent
    }
    heap[child] = timer
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()!
    if (heap.length === 0) return
    let parent = 0
    for (;;) {
      let child = 2 * parent + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++
      if (!before(heap[child]!, last)) break
      heap[parent] = heap[child]!
      parent = child
    }
    heap[parent] = last
  }
}

function before(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
