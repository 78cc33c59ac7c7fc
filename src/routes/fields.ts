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

/** How many of something are wanted, in a query string. */
export const limitField = (max: number) => {
  const message = `must be a whole number from 1 to ${max}`
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= max, message)
}
