import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { readRollUpState } from '../counters/rollup-state.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { databaseProblem } from '../database-problem.ts'
import { log } from '../log.ts'
import { describe } from '../openapi/operation.ts'
import { readHealth } from './health-api.ts'

/** Whether the Worker can do its work, for monitors and people. */
export const health = new Hono<AppEnv>().get(
  '/healthz',
  describe(readHealth, async (c) => {
    try {
      // One row by primary key: shows that the database answers, takes our credentials and has been migrated.
      await readRollUpState(c.var.db)
      return c.json({ status: 'ok', database: 'ok' } as const, 200, { 'Cache-Control': 'no-store' })
    } catch (error) {
      if (!(error instanceof DatabaseFailure)) throw error
      const { code, details } = databaseProblem(error)
      log('error', 'unhealthy', { requestId: c.get('requestId'), code, error: error.message })
      return c.json({ status: 'unavailable', database: code, detail: details.detail } as const, 503, {
        'Cache-Control': 'no-store',
        'Retry-After': '5',
      })
    }
  }),
)
