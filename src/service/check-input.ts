import * as z from 'zod/mini'
import { parsed } from '../config/setting-schemas.ts'
import { fitsTotal } from '../counters/ledger/totals.ts'
import { fieldErrors } from '../field-errors.ts'
import { type Description, described, namedObject, TYPE_DESCRIPTION } from '../openapi/described.ts'
import { invalidRequest } from './problem.ts'

// Created on first use: all of them take milliseconds of an isolate's start, and most isolates use few.
const schemas = new WeakMap<() => unknown, z.ZodMiniType>()

function onFirstUse<Schema extends z.ZodMiniType>(by: () => unknown, make: () => Schema): Schema {
  const schema = (schemas.get(by) as Schema | undefined) ?? make()
  schemas.set(by, schema)
  return schema
}

function schemaOf<Shape extends z.core.$ZodShape>(shape: () => Shape) {
  return onFirstUse(shape, () => z.strictObject(shape()))
}

/** Whether a path has a parameter of this name. @param shape always the same function for a path */
export function isParameter(shape: () => z.core.$ZodShape, name: string): boolean {
  return Object.hasOwn(schemaOf(shape).shape, name)
}

/** @throws {Problem} 422 */
export function checkParameters<Shape extends z.core.$ZodShape>(
  shape: () => Shape,
  parameters: Record<string, unknown>,
) {
  const parsed = schemaOf(shape).safeParse(parameters)
  if (parsed.success) return parsed.data
  throw invalidRequest(
    fieldErrors(parsed.error, 'query').map(({ field, message }) =>
      message === 'is not known here' ? { field, message: 'is not a parameter of this path' } : { field, message },
    ),
  )
}

/** Checks a client's value. @param make always the same function for a path @throws {Problem} 422 */
export function check<Schema extends z.ZodMiniType>(make: () => Schema, value: unknown): z.infer<Schema> {
  const parsed = onFirstUse(make, make).safeParse(value)
  if (!parsed.success) throw invalidRequest(fieldErrors(parsed.error, 'body'))
  return parsed.data
}

const single = z.transform((values: unknown, context) => {
  if (!Array.isArray(values)) return values
  if (values.length > 1) context.issues.push({ code: 'custom', message: 'must not be repeated', input: values })
  return values[0]
})

/** A parameter that may occur once. */
export function once<Schema extends z.ZodMiniType>(schema: Schema, as?: Description) {
  const documented = as === undefined ? schema : described(schema, as)
  return z.pipe(single, documented as Schema & z.core.$ZodType<unknown, unknown>)
}

export const choice = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, { error: `must be one of ${words.join(', ')}` })

const exactInteger = z.int({
  error: ({ code }) => {
    if (code === 'too_big') return `Too big: expected int to be <=${Number.MAX_SAFE_INTEGER}`
    if (code === 'too_small') return `Too small: expected int to be >=${Number.MIN_SAFE_INTEGER}`
    return undefined // The rule of the union.
  },
})

/** A key. `counterOfKey` checks that a number is for a type with integer keys. */
export const keyField = z.union([z.string(), exactInteger], {
  error: 'must be a string (or, for integer keys, a whole number)',
})

/** A body of a few fields. `example` is for error messages. */
export const shortBody = <const Shape extends z.core.$ZodShape>(
  maxBytes: number,
  example: string,
  shape: () => Shape,
) => ({ maxBytes, schema: () => z.strictObject(shape(), { error: `must be an object such as ${example}` }) })

export const namedFields = {
  type: described(z.string({ error: 'must be the name of a counter type' }), TYPE_DESCRIPTION),
  key: described(keyField, 'The key, not percent-encoded.'),
}

export const listEntry = <const Shape extends z.core.$ZodShape>(id: string, more: Shape) =>
  namedObject(id, { ...namedFields, ...more }, { error: 'must be an object' })

/** The most entries of a list in a body. With keys of 512 bytes they fit into `MAX_LIST_BYTES`. */
export const MAX_LISTED = 1_000
export const MAX_LIST_BYTES = 1024 * 1024

export const listField = <Entry extends z.ZodMiniType>(entry: Entry, what: string) => {
  const rule = `must be a list of 1 to ${MAX_LISTED} ${what}`
  return z.array(entry, { error: rule }).check(z.minLength(1, rule), z.maxLength(MAX_LISTED, rule))
}

const BY_RULE = `must be a whole number between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`

export const countField = z.int({ error: BY_RULE })

export const byField = described(z._default(countField, 1), 'The number to add.')

export const increment = () => listEntry('Increment', { by: byField })

export const incrementList = () =>
  z.strictObject({ increments: listField(increment(), 'increments') }, { error: 'must be an object with increments' })

const IMPORTED_RULE = `${BY_RULE}; beyond that, the digits of a signed 64-bit integer in quotation marks`
const IMPORTED_DIGITS = /^-?\d{1,19}$/

/** An imported count. JSON numbers do not hold the largest counts exactly. */
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
    .check(z.refine(fitsTotal, IMPORTED_RULE))

export const AFTER_RULE = 'must be the "next" of the previous page'

export const afterField = <Cursor extends z.ZodMiniType>(cursor: Cursor) =>
  once(z.optional(cursor), 'The `next` of the previous page.')

export const nextField = () =>
  described(z.nullable(z.string()), 'Pass it as `after` to get the next page; null on the last page.')

/** @param what the description, without a full stop */
export const limitField = (max: number, usual: number, what: string) => {
  const message = `must be a whole number from 1 to ${max}`
  const limit = (digits: string) => (/^\d{1,9}$/.test(digits) && +digits >= 1 && +digits <= max ? +digits : null)
  return once(z._default(parsed(limit, message), usual), {
    // The meaning, although a query string is text.
    type: 'integer',
    pattern: undefined,
    minimum: 1,
    maximum: max,
    description: `${what}. Default: ${usual}.`,
  })
}

export const consistency = () =>
  once(
    z._default(z.enum(['exact', 'rolled'], { error: 'must be "exact" (the default) or "rolled"' }), 'exact'),
    '`exact`: total and pending, from one snapshot; without a token, the answer may be `rolled`. `rolled`: only the total of the last roll-up, which is cacheable.',
  )

export const prefixField = () =>
  once(
    z.optional(z.string()),
    'The beginning of the keys. Without a token, it must be one of the type’s `prefixes`. Default: all keys.',
  )
