import * as z from 'zod'

/** The name of a counter type. */
export const typeField = z.string({ error: 'must be the name of a counter type' })

/** A key; types with integer keys also take it as a JSON number, as far as that is exact (`findCounter` sees to that). */
export const keyField = z.union([z.string(), z.int()], {
  error: 'must be a string (or, for integer keys below 2^53, a whole number)',
})

const BY_RULE = `must be a whole number between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`

/** What to add: any integer that JSON numbers carry exactly. */
export const byField = z.int({ error: BY_RULE })

/** What to set a counter to. */
export const countField = z.int({ error: BY_RULE })

const IMPORTED_RULE = `${BY_RULE}; beyond that, the digits of a signed 64-bit integer in quotation marks`
const LARGEST = 2n ** 63n - 1n

/** A number that was counted elsewhere: any that a counter can have. JSON numbers do not carry the largest of them exactly. */
export const importedCountField = z
  .union([z.int(), z.string().regex(/^-?\d{1,19}$/)], { error: IMPORTED_RULE })
  .transform((value) => BigInt(value))
  .refine((value) => value <= LARGEST && value >= -LARGEST, IMPORTED_RULE)

/** What `after` must be: cursors are nothing for clients to make themselves. */
export const AFTER_RULE = 'must be the "next" of the page before'

/** What `after` is, in the document. */
export const AFTER_DESCRIPTION = 'The `next` of the page before.'

/** What `next` is, in the document. */
export const nextField = z.string().nullable().describe('`after` of the next page; null: this is the last one.')

/**
 * How many of something are wanted, in a query string.
 *
 * @param usual where nothing is said
 * @param what it is, for the document
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
      // The document says what it means, not that a query string is text.
      .meta({ type: 'integer', pattern: undefined, minimum: 1, maximum: max })
      .describe(`${what}; without it, ${usual}.`)
  )
}
