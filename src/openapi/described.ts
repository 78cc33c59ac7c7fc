import * as z from 'zod/mini'

/** What the OpenAPI document says of a schema, besides what the schema itself says. */
type Description = string | z.core.JSONSchemaMeta

/** A schema with a description, or with other members of the OpenAPI document. The schema that is passed stays as it is. */
export function described<Schema extends z.ZodMiniType>(schema: Schema, as: Description): Schema {
  const copy = z.clone(schema)
  z.globalRegistry.add(copy, typeof as === 'string' ? { description: as } : as)
  return copy
}
