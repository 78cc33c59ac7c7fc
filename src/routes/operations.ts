import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import type { Config } from '../config.ts'
import { countPending, MAX_PENDING_COUNTED, type RollUpSummary, rollUp } from '../counters/rollup.ts'
import { readRollUpState } from '../counters/rollup-state.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { openMaintenanceDatabase } from '../maintenance.ts'
import { describe } from '../openapi/operation.ts'
import { Problem } from '../problem.ts'
import { readStatus, rollUpOnce } from './operations-api.ts'

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
      const state = await readRollUpState(c.var.db)
      const pending = await countPending(c.var.db)
      const caughtUpAt = state?.caughtUpAt ?? null
      return c.json(
        {
          pendingSlots: pending,
          pendingSlotsAtLeast: pending === MAX_PENDING_COUNTED,
          rollUp: {
            running: state?.leased ?? false,
            lastRunAt: state?.lastRunAt?.toISOString() ?? null,
            caughtUpAt: caughtUpAt?.toISOString() ?? null,
            behindSeconds: caughtUpAt && Math.max(0, Math.round((Date.now() - caughtUpAt.getTime()) / 1_000)),
          },
          types: [...c.var.config.types.values()].map(({ name, recordType, key }) => ({ name, recordType, key })),
        },
        200,
        { 'Cache-Control': 'no-store' },
      )
    }),
  )
  .post(
    '/v1/rollup',
    requireToken,
    describe(rollUpOnce, async (c) => {
      const run = rollUpNow(c.var.config)
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
