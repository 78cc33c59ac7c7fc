import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import type { Increment } from '../counters/batch.ts'
import { countFor } from '../counting.ts'
import type { FieldError } from '../field-errors.ts'
import { tellHit } from '../hit-header.ts'
import { limitBody, readJson } from '../json-body.ts'
import { describe } from '../openapi/operation.ts'
import { findCounter, invalidRequest } from '../request.ts'
import { idempotencyKey, SEND_AGAIN } from './idempotency-key.ts'
import { incrementMany } from './increments-api.ts'

/** A thousand keys of 512 bytes and their frames fit with room to spare. */
const MAX_BODY_BYTES = 1024 * 1024

/** Counting many things at once, with the token: all of them or none. */
export const increments = new Hono<AppEnv>().post(
  '/v1/increments',
  tellHit,
  requireToken,
  limitBody(MAX_BODY_BYTES),
  describe(incrementMany, async (c) => {
    const key = await idempotencyKey(c, 'count')
    const body = await readJson(c, incrementMany.body.schema)
    const errors: FieldError[] = []
    const parsed: Increment[] = []
    for (const [index, increment] of body.increments.entries()) {
      const type = c.var.config.types.get(increment.type)
      if (type === undefined) {
        errors.push({ field: `increments.${index}.type`, message: 'is not a configured counter type' })
        continue
      }
      const counter = await findCounter(c.var.known, type, increment.key)
      if (typeof counter === 'string') errors.push({ field: `increments.${index}.key`, message: counter })
      else parsed.push({ counter, by: BigInt(increment.by) })
    }
    if (errors.length > 0) throw invalidRequest(errors)
    const outcome = await countFor(c, c.var.counting, parsed, { key, advice: SEND_AGAIN })
    return c.json({ accepted: parsed.length }, outcome === 'queued' ? 202 : 200, { 'X-Hit': outcome })
  }),
)
