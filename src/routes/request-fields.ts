import * as z from 'zod'

/** The name of a counter type. */
export const typeField = z.string({ error: 'must be the name of a counter type' })

/** A key. For types with integer keys, a JSON number is accepted too if it is exact (`counterOfKey` checks that). */
export const keyField = z.union([z.string(), z.int()], {
  error: 'must be a string (or, for integer keys below 2^53, a whole number)',
})

const BY_RULE = `must be a whole number between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`

/** The number to add: any integer that a JSON number holds exactly. */
export const byField = z.int({ error: BY_RULE })

/** The new count of a counter. */
export const countField = z.int({ error: BY_RULE })

const IMPORTED_RULE = `${BY_RULE}; beyond that, the digits of a signed 64-bit integer in quotation marks`
const LARGEST = 2n ** 63n - 1n

/** An imported count: any count that a counter can hold. JSON numbers do not hold the largest ones exactly. */
export const importedCountField = z
  .union([z.int(), z.string().regex(/^-?\d{1,19}$/)], { error: IMPORTED_RULE })
  .transform((value) => BigInt(value))
  .refine((value) => value <= LARGEST && value >= -LARGEST, IMPORTED_RULE)

/** The rule for `after`: clients must not construct cursors themselves. */
export const AFTER_RULE = 'must be the "next" of the page before'

/** The description of `after` in the OpenAPI document. */
export const AFTER_DESCRIPTION = 'The `next` of the previous page.'

/** The cursor in a response that leads to the next page. */
export const nextField = z
  .string()
  .nullable()
  .describe('Pass it as `after` to get the next page; null on the last page.')

/**
 * A limit in a query string.
 *
 * @param usual the default
 * @param what the description in the OpenAPI document, without a full stop
 */
export const limitField = (max: number, usual: number, what: string) => {
  const message = `must be a whole number from 1 to ${max}`
  return (
    z
      .string({ error: message })
      .regex(/^\d{1,9}$/, message)
      .transform(Number)
      .refine((limit) => limit >= 1 && limit <= max, message)
      .default(usual)
      // The document describes the meaning, although a query string is text.
      .meta({ type: 'integer', pattern: undefined, minimum: 1, maximum: max })
      .describe(`${what}. Default: ${usual}.`)
  )
}
