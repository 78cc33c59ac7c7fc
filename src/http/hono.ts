import type { Hono as HonoClass } from 'hono'
import { HonoBase } from 'hono/hono-base'
import { RegExpRouter } from 'hono/router/reg-exp-router'

/** Hono with the one router that our routes need. Its default brings three, which adds 1 kB to the bundle. */
export const Hono = class extends HonoBase {
  constructor(options: ConstructorParameters<typeof HonoBase>[0] = {}) {
    super({ router: new RegExpRouter(), ...options })
  }
} as typeof HonoClass
