import type { Hono } from 'hono'
import type { BlankEnv, ExtractSchema } from 'hono/types'
import type { counters } from './routes/counters.ts'
import type { exports } from './routes/export.ts'
import type { health } from './routes/health.ts'
import type { history } from './routes/history.ts'
import type { hit } from './routes/hit.ts'
import type { imports } from './routes/imports.ts'
import type { increments } from './routes/increments.ts'
import type { operations } from './routes/operations.ts'
import type { search } from './routes/search.ts'
import type { settings } from './routes/set.ts'
import type { top } from './routes/top.ts'
import type { verify } from './routes/verify.ts'

/** The routes that programs use. What is for browsers alone (badges, downloads, the beacon) is not among them. */
type Routes =
  | typeof hit
  | typeof health
  | typeof counters
  | typeof increments
  | typeof settings
  | typeof imports
  | typeof exports
  | typeof history
  | typeof top
  | typeof search
  | typeof operations
  | typeof verify

/**
 * What a typed client knows of this Worker: `hc<App>(url)`. `npm run client` writes it down in client/app.d.ts, free of everything
 * it is made of, for other people's projects.
 */
export type App = Hono<BlankEnv, ExtractSchema<Routes>, '/'>
