import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import { type ImportRow, importCounts } from '../counters/imports.ts'
import { adjustingProblem } from '../database-problem.ts'
import type { FieldError } from '../field-errors.ts'
import { limitBody, readJson } from '../json-body.ts'
import { describe } from '../openapi/operation.ts'
import { readQuery } from '../query.ts'
import { findCounter, invalidRequest } from '../request.ts'
import { neededIdempotencyKey } from './idempotency-key.ts'
import { addImport, DAY_RULE } from './imports-api.ts'

/** A thousand keys of 512 bytes and their frames fit with room to spare. */
const MAX_BODY_BYTES = 1024 * 1024

/** Adding numbers that were counted elsewhere, with the token: all of them or none. */
export const imports = new Hono<AppEnv>().post(
  '/v1/imports',
  requireToken,
  limitBody(MAX_BODY_BYTES),
  describe(addImport, async (c) => {
    readQuery(c, addImport.query)
    const id = await neededIdempotencyKey(c, 'import')
    const body = await readJson(c, addImport.body.schema)
    const now = new Date()
    const errors: FieldError[] = []
    const rows: ImportRow[] = []
    for (const [index, { type: typeName, key, count, day }] of body.counters.entries()) {
      const type = c.var.config.types.get(typeName)
      const date = day === undefined ? null : new Date(`${day}T00:00:00Z`)
      if (date !== null && (date.getTime() < 0 || date > now)) {
        errors.push({ field: `counters.${index}.day`, message: DAY_RULE })
      }
      if (type === undefined) {
        errors.push({ field: `counters.${index}.type`, message: 'is not a configured counter type' })
        continue
      }
      const counter = await findCounter(c.var.known, type, key)
      if (typeof counter === 'string') errors.push({ field: `counters.${index}.key`, message: counter })
      else rows.push({ counter, count, day: date })
    }
    if (errors.length > 0) throw invalidRequest(errors)
    const importing = importCounts(c.var.db, rows, { id, at: now }).finally(() => c.var.reads.rolled.forget())
    // A client that hangs up must not leave a transaction open, with its locks.
    c.executionCtx.waitUntil(importing.catch(() => {}))
    const outcome = await importing.catch((error: unknown) => {
      throw adjustingProblem(error, 'Send it again with the same Idempotency-Key.')
    })
    const answer = { imported: rows.length }
    return c.json(answer, 200, {
      'Cache-Control': 'no-store',
      ...(outcome === 'repeated' && { 'Idempotent-Replayed': 'true' }),
    })
  }),
)
