import { Hono } from 'hono'
import * as z from 'zod'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import type { Increment } from '../counters/batch.ts'
import { countFor } from '../counting.ts'
import type { FieldError } from '../field-errors.ts'
import { tellHit } from '../hit-header.ts'
import { limitBody, readJson } from '../json-body.ts'
import { findCounter, invalidRequest } from '../request.ts'
import { byField, keyField, typeField } from './fields.ts'
import { idempotencyKey, SEND_AGAIN } from './idempotency-key.ts'

/** Most increments one request may carry. */
const MAX_INCREMENTS = 1_000
/** A thousand keys of 512 bytes and their frames fit with room to spare. */
const MAX_BODY_BYTES = 1024 * 1024

const LENGTH_RULE = `must be a list of 1 to ${MAX_INCREMENTS} increments`
const incrementsBody = z.strictObject(
  {
    increments: z
      .array(
        z.strictObject({ type: typeField, key: keyField, by: byField.default(1) }, { error: 'must be an object' }),
        { error: LENGTH_RULE },
      )
      .min(1, LENGTH_RULE)
      .max(MAX_INCREMENTS, LENGTH_RULE),
  },
  { error: 'must be an object with increments' },
)

/** Counting many things at once, with the token: all of them or none. */
export const increments = new Hono<AppEnv>()

increments.post('/v1/increments', tellHit, requireToken, limitBody(MAX_BODY_BYTES), async (c) => {
  const key = await idempotencyKey(c)
  const body = await readJson(c, incrementsBody)
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
})
