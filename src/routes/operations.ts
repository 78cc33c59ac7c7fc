import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import type { Config } from '../config.ts'
import { type RollUpSummary, rollUp } from '../counters/rollup.ts'
import { openDatabase } from '../database/database.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { isolateOf } from '../isolate.ts'
import { log } from '../log.ts'
import { openMaintenanceDatabase } from '../maintenance.ts'
import { describe } from '../openapi/operation.ts'
import { Problem } from '../problem.ts'
import { statusReport } from '../status/report.ts'
import { survey } from '../status/survey.ts'
import { readStatus, rollUpOnce } from './operations-api.ts'

/** Milliseconds that one part of the status may take. */
const STATUS_DEADLINE_MS = 3_000
/** Milliseconds that a roll-up asked for waits for one that is running. */
const WAIT_FOR_LEASE_MS = 8_000
/** Rarely, because asking takes 2 of the 50 subrequests that the free plan allows. */
const POLL_MS = 2_000

/** What the operator asks of a running Worker, with the token. */
export const operations = new Hono<AppEnv>()
  .get(
    '/v1/status',
    requireToken,
    describe(readStatus, async (c) => {
      const isolate = isolateOf(c.env)
      const { config } = isolate
      // Past the circuit breaker: the server's views may be slow or refused in a database that is well.
      const aside = openDatabase({ url: config.databaseUrl, deadlineMs: STATUS_DEADLINE_MS })
      const found = await survey(c.var.db, c.get('databaseTime')?.of(aside) ?? aside, config.pruning)
      for (const { part, error } of found.missing) {
        log('warn', 'status_incomplete', { requestId: c.get('requestId'), part, error: String(error) })
      }
      return c.json(statusReport(found, isolate, new Date()), 200, { 'Cache-Control': 'no-store' })
    }),
  )
  .post(
    '/v1/rollup',
    requireToken,
    describe(rollUpOnce, async (c) => {
      const run = rollUpNow(c.var.config).finally(() => c.var.reads.rolled.forget())
      // A client that hangs up must not leave a transaction open, with its locks.
      c.executionCtx.waitUntil(run.catch(() => {}))
      const summary = await run
      return c.json({ ...summary, moved: toJsonNumber(summary.moved) }, 200, { 'Cache-Control': 'no-store' })
    }),
  )

/**
 * Rolls up, after another run that is under way if need be.
 *
 * @throws {Problem} 409 if that one takes too long
 */
async function rollUpNow(config: Config): Promise<RollUpSummary> {
  const db = openMaintenanceDatabase(config)
  const giveUpAt = Date.now() + WAIT_FOR_LEASE_MS
  for (;;) {
    const summary = await rollUp(db, { ...config.rollUp, at: new Date() })
    if (summary.outcome !== 'busy') return summary
    if (Date.now() > giveUpAt) {
      throw new Problem('rollup_running', {
        detail: 'Another roll-up is still running. It does the same work; see GET /v1/status.',
        headers: { 'Retry-After': '10' },
      })
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
