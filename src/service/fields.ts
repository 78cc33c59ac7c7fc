import * as z from 'zod/mini'
import { fieldErrors } from '../field-errors.ts'
import { type Description, described, namedObject, TYPE_DESCRIPTION } from '../openapi/described.ts'
import { invalidRequest } from './problem.ts'

// Made on first use: the schemas of all routes take milliseconds of an isolate's start, and most isolates use few of them.
const schemas = new WeakMap<() => z.core.$ZodShape, z.ZodMiniObject>()

/**
 * Checks parameters by their names.
 *
 * @throws {Problem} 422
 */
export function checkParameters<Shape extends z.core.$ZodShape>(
  shape: () => Shape,
  parameters: Record<string, unknown>,
) {
  const schema = (schemas.get(shape) ?? z.strictObject(shape())) as z.ZodMiniObject<Shape, z.core.$strict>
  schemas.set(shape, schema)
  const parsed = schema.safeParse(parameters)
  if (parsed.success) return parsed.data
  throw invalidRequest(
    fieldErrors(parsed.error, 'query').map(({ field, message }) =>
      message === 'is not known here' ? { field, message: 'is not a parameter of this path' } : { field, message },
    ),
  )
}

const valueSchemas = new WeakMap<() => z.ZodMiniType, z.ZodMiniType>()

/**
 * Checks a value that a client sent.
 *
 * @param make makes the schema; always the same function for a path
 * @throws {Problem} 422
 */
export function check<Schema extends z.ZodMiniType>(make: () => Schema, value: unknown): z.infer<Schema> {
  const schema = (valueSchemas.get(make) as Schema | undefined) ?? make()
  valueSchemas.set(make, schema)
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw invalidRequest(fieldErrors(parsed.error, 'body'))
  return parsed.data
}

const single = z.transform((values: unknown, context) => {
  if (!Array.isArray(values)) return values
  if (values.length > 1) context.issues.push({ code: 'custom', message: 'may be given once', input: values })
  return values[0]
})

/** A parameter that may occur once, and what the OpenAPI document says of it. */
export function once<Schema extends z.ZodMiniType>(schema: Schema, as?: Description) {
  const documented = as === undefined ? schema : described(schema, as)
  return z.pipe(single, documented as Schema & z.core.$ZodType<unknown, unknown>)
}

/** One of some words. */
export const choice = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, { error: `must be one of ${words.join(', ')}` })

/** Text that stands for something. `parse` returns nothing for text that stands for nothing. */
export const parsed = <Value>(parse: (text: string) => Value | null | undefined, rule: string) =>
  z.pipe(
    z.string({ error: rule }),
    z.transform((text, context): Value => {
      const value = parse(text) ?? undefined
      if (value !== undefined) return value
      context.issues.push({ code: 'custom', message: rule, input: text })
      return z.NEVER
    }),
  )

/** An integer that a JSON number holds exactly. */
const exactInteger = z.int({
  error: ({ code }) => {
    if (code === 'too_big') return `Too big: expected int to be <=${Number.MAX_SAFE_INTEGER}`
    if (code === 'too_small') return `Too small: expected int to be >=${Number.MIN_SAFE_INTEGER}`
    // Whatever has another type gets the rule of the union.
    return undefined
  },
})

/** A key. For types with integer keys, a JSON number is accepted too if it is exact (`counterOfKey` checks that). */
export const keyField = z.union([z.string(), exactInteger], {
  error: 'must be a string (or, for integer keys, a whole number)',
})

/** A body of a few fields. `example` says in errors how one looks. */
export const shortBody = <const Shape extends z.core.$ZodShape>(
  maxBytes: number,
  example: string,
  shape: () => Shape,
) => ({ maxBytes, schema: () => z.strictObject(shape(), { error: `must be an object such as ${example}` }) })

/** What names a counter in a body. */
export const namedFields = {
  type: described(z.string({ error: 'must be the name of a counter type' }), TYPE_DESCRIPTION),
  key: described(keyField, 'The key, not percent-encoded.'),
}

/** An entry of a list in a body: what names its counter, and more. */
export const listEntry = <const Shape extends z.core.$ZodShape>(id: string, more: Shape) =>
  namedObject(id, { ...namedFields, ...more }, { error: 'must be an object' })

/** The most entries of a list in a body. Their keys of 512 bytes and their frames fit into `MAX_LIST_BYTES` with room to spare. */
export const MAX_LISTED = 1_000
export const MAX_LIST_BYTES = 1024 * 1024

/** A list of counters or increments in a body. */
export const listField = <Entry extends z.ZodMiniType>(entry: Entry, what: string) => {
  const rule = `must be a list of 1 to ${MAX_LISTED} ${what}`
  return z.array(entry, { error: rule }).check(z.minLength(1, rule), z.maxLength(MAX_LISTED, rule))
}

const BY_RULE = `must be a whole number between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`

/** A count, or a number to add: any integer that a JSON number holds exactly. */
export const countField = z.int({ error: BY_RULE })

/** The number to add. */
export const byField = described(z._default(countField, 1), 'The number to add.')

/** An entry of a list of increments. */
export const increment = () => listEntry('Increment', { by: byField })

/** A body that lists increments. */
export const incrementList = () =>
  z.strictObject({ increments: listField(increment(), 'increments') }, { error: 'must be an object with increments' })

const IMPORTED_RULE = `${BY_RULE}; beyond that, the digits of a signed 64-bit integer in quotation marks`
const IMPORTED_DIGITS = /^-?\d{1,19}$/
const LARGEST = 2n ** 63n - 1n

/** An imported count: any count that a counter can hold. JSON numbers do not hold the largest ones exactly. */
export const importedCountField = () =>
  z
    .pipe(
      z.union(
        [
          exactInteger,
          z.string().check(z.regex(IMPORTED_DIGITS, `Invalid string: must match pattern ${IMPORTED_DIGITS}`)),
        ],
        { error: IMPORTED_RULE },
      ),
      z.transform((value) => BigInt(value)),
    )
    .check(z.refine((value) => value <= LARGEST && value >= -LARGEST, IMPORTED_RULE))

/** The rule for `after`: clients must not construct cursors themselves. */
export const AFTER_RULE = 'must be the "next" of the page before'

/** The parameter that asks for the next page. */
export const afterField = <Cursor extends z.ZodMiniType>(cursor: Cursor) =>
  once(z.optional(cursor), 'The `next` of the previous page.')

/** The cursor in a response that leads to the next page. */
export const nextField = () =>
  described(z.nullable(z.string()), 'Pass it as `after` to get the next page; null on the last page.')

/**
 * A limit in a query string.
 *
 * @param usual the default
 * @param what the description in the OpenAPI document, without a full stop
 */
export const limitField = (max: number, usual: number, what: string) => {
  const message = `must be a whole number from 1 to ${max}`
  const digits = z.pipe(z.string({ error: message }).check(z.regex(/^\d{1,9}$/, message)), z.transform(Number))
  const limit = digits.check(z.refine((value) => value >= 1 && value <= max, message))
  return once(z._default(limit, usual), {
    // The document describes the meaning, although a query string is text.
    type: 'integer',
    pattern: undefined,
    minimum: 1,
    maximum: max,
    description: `${what}. Default: ${usual}.`,
  })
}

/** The parameter that chooses between exact and cached counts. */
export const consistency = () =>
  once(
    z._default(z.enum(['exact', 'rolled'], { error: 'must be "exact" (the default) or "rolled"' }), 'exact'),
    '`exact`: total and pending, read from one snapshot; without a token, it may be answered with `rolled`. `rolled`: the total only; it is at most one roll-up old and cacheable.',
  )

/** The parameter that chooses the keys of a total. */
export const prefixField = () =>
  once(
    z.optional(z.string()),
    'The beginning of the keys: without a token, one of those that the type lists in `prefixes`. By default, and if it is empty, all keys.',
  )
