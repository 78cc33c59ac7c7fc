import * as z from 'zod/mini'

/** A schema's description, or other members of the OpenAPI document. */
export type Description = string | z.core.JSONSchemaMeta

/** A copy of a schema with a description. */
export function described<Schema extends z.ZodMiniType>(schema: Schema, as: Description): Schema {
  const copy = z.clone(schema)
  z.globalRegistry.add(copy, typeof as === 'string' ? { description: as } : as)
  return copy
}

/** A strict object with a name in the OpenAPI document. */
export function namedObject<const Shape extends z.core.$ZodShape>(
  id: string,
  shape: Shape,
  params?: z.core.$ZodObjectParams,
) {
  return described(z.strictObject(shape, params), { id })
}

export const TYPE_DESCRIPTION = 'The name of a counter type, as configured in `[vars.COUNTERS.…]`.'

/** A count in a response, with all its digits even beyond 2^53. */
export const count = described(z.number(), { type: 'integer', format: 'int64' })

/** A point in time in a response. */
export const instant = z.iso.datetime()
