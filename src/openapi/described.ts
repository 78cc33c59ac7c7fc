import * as z from 'zod/mini'

/** What the OpenAPI document says of a schema, besides what the schema itself says. */
export type Description = string | z.core.JSONSchemaMeta

/** A schema with a description, or with other members of the OpenAPI document. The schema that is passed stays as it is. */
export function described<Schema extends z.ZodMiniType>(schema: Schema, as: Description): Schema {
  const copy = z.clone(schema)
  z.globalRegistry.add(copy, typeof as === 'string' ? { description: as } : as)
  return copy
}

/** An object without other members, under a name in the OpenAPI document. */
export function namedObject<const Shape extends z.core.$ZodShape>(
  id: string,
  shape: Shape,
  params?: z.core.$ZodObjectParams,
) {
  return described(z.strictObject(shape, params), { id })
}

/** The description of every parameter and member that names a type. */
export const TYPE_DESCRIPTION = 'The name of a counter type, as configured in `[vars.COUNTERS.…]`.'

/** Parameters and members that many operations share. */
export const typeParam = described(z.string(), TYPE_DESCRIPTION)
const keyParam = described(
  z.string(),
  'The key, up to 512 bytes, percent-encoded as one path segment: write `/blog/hello` as `%2Fblog%2Fhello`. The keys `.` and ' +
    '`..` cannot stand in a path: leave the segment out, and send `?key=..`. For types with integer keys: a whole number of at ' +
    'most 19 digits.',
)

/** A count in a response. It has all its digits even beyond 2^53, where JavaScript rounds. */
export const count = described(z.number(), { type: 'integer', format: 'int64' })

/** A point in time in a response. */
export const instant = z.iso.datetime()

/** The path parameters of most operations. */
export const COUNTER_PARAMS = { type: typeParam, key: keyParam }
