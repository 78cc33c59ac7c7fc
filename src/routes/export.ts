import { Hono } from 'hono'
import * as z from 'zod'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import { exportDays, exportTotals } from '../counters/export.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { once, readQuery } from '../query.ts'
import { pathType } from '../request.ts'

const MAX_LIMIT = 1_000
const LIMIT_RULE = `must be a whole number from 1 to ${MAX_LIMIT}`
const AFTER_RULE = 'must be the "next" of the page before'

/** The record id of the last counter, in hexadecimal. Nothing for clients to rely on. */
const after = z
  .string({ error: AFTER_RULE })
  .regex(/^[0-9a-f]{1,16}$/, AFTER_RULE)
  .transform((text) => BigInt(`0x${text}`))

export const exportQuery = {
  after: once(after.optional()),
  limit: once(
    z
      .string({ error: LIMIT_RULE })
      .regex(/^[1-9]\d{0,3}$/, LIMIT_RULE)
      .transform(Number)
      .refine((limit) => limit <= MAX_LIMIT, LIMIT_RULE)
      .default(MAX_LIMIT),
  ),
  by: once(z.enum(['total', 'day'], { error: 'must be "total" (the default) or "day"' }).default('total')),
}
export const exportAnswer = z.object({
  rows: z.array(
    z.object({
      /** `null`: the name of this counter is not stored yet; `recordId` is then its number. */
      key: z.string().nullable(),
      recordId: z.string().optional(),
      count: z.int(),
      day: z.iso.date().optional(),
    }),
  ),
  next: z.string().nullable(),
})

/** Everything that was counted, page by page, with the token. */
export const exports = new Hono<AppEnv>()

exports.get('/v1/export/:type', requireToken, async (c) => {
  const type = pathType(c)
  const { after = null, limit, by } = readQuery(c, exportQuery)
  const options = { recordType: type.recordType, after, limit }
  const page =
    by === 'total' ? await exportTotals(c.var.db, options) : await exportDays(c.var.db, { ...options, now: new Date() })
  const answer: z.infer<typeof exportAnswer> = {
    rows: page.rows.map(({ recordId, name, count, day }) => ({
      ...(type.key === 'integer' ? { key: `${recordId}` } : nameOf(recordId, name)),
      count: toJsonNumber(count),
      ...(day !== null && { day }),
    })),
    next: page.next === null ? null : page.next.toString(16),
  }
  return c.json(answer, 200, { 'Cache-Control': 'no-store' })
})

function nameOf(recordId: bigint, name: string | null) {
  return name === null ? { key: null, recordId: `${recordId}` } : { key: name }
}
