import * as z from 'zod'

/** Parameters and members that many operations share, as the document describes them. */
export const typeParam = z
  .string()
  .describe('The name of a counter type, as `[vars.COUNTERS.…]` in the configuration has it.')
export const keyParam = z
  .string()
  .describe(
    'The key, up to 512 bytes, percent-encoded as one path segment: `/blog/hello` is written `%2Fblog%2Fhello`. For types with ' +
      'integer keys: an unsigned 64-bit decimal number.',
  )

/** A count in an answer: all its digits, also beyond 2^53, where JavaScript rounds. */
export const count = z.number().meta({ type: 'integer', format: 'int64' })

/** A point in time in an answer. */
export const instant = z.iso.datetime()

/** The path's parameters of most operations. */
export const COUNTER_PARAMS = { type: typeParam, key: keyParam }
