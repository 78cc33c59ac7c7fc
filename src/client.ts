import type { Hono } from 'hono'
import type { BlankEnv, ExtractSchema } from 'hono/types'
import type { counters } from './routes/counters.ts'
import type { health } from './routes/health.ts'
import type { hit } from './routes/hit.ts'
import type { increments } from './routes/increments.ts'
import type { operations } from './routes/operations.ts'

/** The routes that programs use. What is for browsers alone (badges, downloads, the beacon) is not among them. */
type Routes = typeof hit | typeof health | typeof counters | typeof increments | typeof operations

/**
 * What a typed client knows of this Worker: `hc<App>(url)`. `npm run client` writes it down in client/app.d.ts, free of everything
 * it is made of, for other people's projects.
 */
export type App = Hono<BlankEnv, ExtractSchema<Routes>, '/'>
