import { createMiddleware } from 'hono/factory'
import { setMetric, timing } from 'hono/timing'
import type { AppEnv } from './context.ts'
import { DatabaseTime } from './database-time.ts'

/**
 * Reports in `Server-Timing` how long a response took (`total`) and how much of that the database did (`db`), in milliseconds.
 * Scripts of other sites may read it if they may read the response.
 */
export const timed = timing({
  totalDescription: 'all of it',
  crossOrigin: (c) => c.res.headers.get('Access-Control-Allow-Origin') ?? false,
})

/** Measures the database for `timed`. Register it after `timed`. */
export const databaseTimed = createMiddleware<AppEnv>(async (c, next) => {
  const time = new DatabaseTime()
  c.set('databaseTime', time)
  await next()
  const { result } = time
  if (result !== null) setMetric(c, 'db', result.milliseconds, result.shared ? 'shared' : undefined)
})
