import type { Hono as HonoClass } from 'hono'
import { HonoBase } from 'hono/hono-base'
import { RegExpRouter } from 'hono/router/reg-exp-router'

/** Hono with the one router that our routes need. Its default brings three, which adds 1 kB to the bundle. */
export const Hono = class extends HonoBase {
  constructor(options: ConstructorParameters<typeof HonoBase>[0] = {}) {
    super({ router: new RegExpRouter(), ...options })
  }
} as typeof HonoClass

/**
 * Routes to add to an app with `route`. They match no requests themselves: a router for each file would cost a third of the time
 * in which an isolate starts.
 */
export const Routes = class extends HonoBase {
  constructor() {
    const match = () => {
      throw new Error('add these routes to an app')
    }
    super({ router: { name: 'none', add() {}, match } })
  }
} as typeof HonoClass
