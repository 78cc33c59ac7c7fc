import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import * as z from 'zod'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import type { Increment } from '../counters/batch.ts'
import { count } from '../counters/count.ts'
import { counterOf, InvalidKey } from '../counters/counter.ts'
import type { FieldError } from '../field-errors.ts'
import { invalidRequest, readJson } from '../request.ts'
import { bodyTooLarge, byField, countingProblem, keyField, typeField } from './fields.ts'
import { idempotencyKey } from './idempotency-key.ts'

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

increments.post(
  '/v1/increments',
  requireToken,
  bodyLimit({ maxSize: MAX_BODY_BYTES, onError: bodyTooLarge(MAX_BODY_BYTES) }),
  async (c) => {
    const key = idempotencyKey(c)
    const body = await readJson(c, incrementsBody)
    const errors: FieldError[] = []
    const parsed: Increment[] = []
    for (const [index, increment] of body.increments.entries()) {
      const type = c.var.config.types.get(increment.type)
      if (type === undefined) {
        errors.push({ field: `increments.${index}.type`, message: 'is not a configured counter type' })
        continue
      }
      try {
        parsed.push({ counter: await counterOf(type, String(increment.key)), by: BigInt(increment.by) })
      } catch (error) {
        if (!(error instanceof InvalidKey)) throw error
        errors.push({ field: `increments.${index}.key`, message: error.message })
      }
    }
    if (errors.length > 0) throw invalidRequest(errors)
    await count(c.var.counting, parsed, key).catch(countingProblem)
    return c.json({ accepted: parsed.length }, 200, { 'X-Hit': 'counted' })
  },
)
