import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import { exportDays, exportTotals } from '../counters/export.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { describe } from '../openapi/operation.ts'
import { readQuery } from '../query.ts'
import { pathType } from '../request.ts'
import { exportCounts } from './export-api.ts'

/** Everything that was counted, page by page, with the token. */
export const exports = new Hono<AppEnv>().get(
  '/v1/export/:type',
  requireToken,
  describe(exportCounts, async (c) => {
    const type = pathType(c)
    const { after = null, limit, by } = readQuery(c, exportCounts.query)
    const options = { recordType: type.recordType, after, limit }
    const page =
      by === 'total'
        ? await exportTotals(c.var.db, options)
        : await exportDays(c.var.db, { ...options, now: new Date() })
    const answer = {
      rows: page.rows.map(({ recordId, name, count, day }) => ({
        ...(type.key === 'integer' ? { key: `${recordId}` } : nameOf(recordId, name)),
        count: toJsonNumber(count),
        ...(day !== null && { day }),
      })),
      next: page.next === null ? null : page.next.toString(16),
    }
    return c.json(answer, 200, { 'Cache-Control': 'no-store' })
  }),
)

function nameOf(recordId: bigint, name: string | null) {
  return name === null ? { key: null, recordId: `${recordId}` } : { key: name }
}
