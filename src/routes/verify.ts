import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import type { Config } from '../config.ts'
import { readNames } from '../counters/names.ts'
import { FIRST_POSITION, type Mismatch, reconcile } from '../counters/reconcile.ts'
import type { Executor } from '../database/database.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { withRetries } from '../database/retry.ts'
import { openMaintenanceDatabase } from '../maintenance.ts'
import { describe } from '../openapi/operation.ts'
import { readQuery } from '../query.ts'
import { verifyCounts } from './verify-api.ts'
import { writeCursor } from './verify-cursor.ts'

/** Checking what the tables say against each other, page by page, with the token. */
export const verify = new Hono<AppEnv>().post(
  '/v1/verify',
  requireToken,
  describe(verifyCounts, async (c) => {
    const { after = FIRST_POSITION, limit } = readQuery(c, verifyCounts.query)
    const db = withRetries(openMaintenanceDatabase(c.var.config))
    const { hourDays } = c.var.config.history
    const { checked, wrong, next } = await reconcile(db, { from: after, limit, at: new Date(), hourDays })
    return c.json({ checked, wrong: await named(db, c.var.config, wrong), next: next && writeCursor(next) }, 200, {
      'Cache-Control': 'no-store',
    })
  }),
)

/** Mismatches as people read them, with the names of counters. */
async function named(db: Executor, config: Config, wrong: readonly Mismatch[]) {
  const types = new Map([...config.types.values()].map((type) => [type.recordType, type]))
  const counters = wrong.flatMap(({ recordType, recordId }) =>
    recordId !== null && types.get(recordType)?.key !== 'integer' ? [{ recordType, recordId }] : [],
  )
  const nameOf = await readNames(db, counters)
  return wrong.map(({ recordType, recordId, what, start, is, shouldBe }) => {
    const type = types.get(recordType)
    const counter = recordId === null ? null : { recordType, recordId }
    return {
      type: type?.name ?? null,
      recordType,
      key: counter && (type?.key === 'integer' ? String(counter.recordId) : nameOf(counter)),
      recordId: counter && String(counter.recordId),
      what,
      start,
      is: toJsonNumber(is),
      shouldBe: toJsonNumber(shouldBe),
      difference: toJsonNumber(is - shouldBe),
    }
  })
}
