import { AsyncLocalStorage } from 'node:async_hooks'
import { onTestFinished } from 'vitest'

const current = new AsyncLocalStorage<Clock>()

/** The clock of an isolate, of which a process has several: what `Date` says in the work that the isolate does. */
export class Clock {
  /** Milliseconds by which it is ahead of the machine's clock. */
  aheadMs = 0

  /** Runs the work of an isolate. Timers go on as usual. */
  run<T>(work: () => T): T {
    return current.run(this, work)
  }

  /** Makes `Date` tell the time of the clock under which it is asked, until the test ends. */
  static install(): void {
    const Machine = Date
    const now = () => Machine.now() + (current.getStore()?.aheadMs ?? 0)
    globalThis.Date = new Proxy(Machine, {
      construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made),
      get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
    })
    onTestFinished(() => {
      globalThis.Date = Machine
    })
  }
}
