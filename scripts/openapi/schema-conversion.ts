import * as z from 'zod/mini'

/** A JSON Schema, draft 2020-12, which OpenAPI 3.1 uses. */
export type JsonSchema = { [keyword: string]: unknown }

/** The schemas of a document. Named ones (`meta({ id })`) are collected once under `components` and referred to. */
export class Schemas {
  readonly components: Record<string, JsonSchema> = {}
  // Operations share a few schemas, and converting one takes a tenth of a millisecond.
  readonly #made = { input: new Map<z.ZodMiniType, JsonSchema>(), output: new Map<z.ZodMiniType, JsonSchema>() }

  /**
   * Converts a schema, or returns a reference to it if it has a name.
   *
   * @param io `input` for requests, `output` for responses
   */
  of(schema: z.ZodMiniType, io: 'input' | 'output'): JsonSchema {
    const known = this.#made[io].get(schema)
    if (known !== undefined) return known
    const made = this.#make(schema, io)
    this.#made[io].set(schema, made)
    return made
  }

  #make(schema: z.ZodMiniType, io: 'input' | 'output'): JsonSchema {
    const {
      $schema: _,
      $defs = {},
      ...made
    } = z.toJSONSchema(schema, {
      io,
      // Requests are read strictly. Responses may gain members, which clients must not treat as errors.
      override: ({ jsonSchema }) => {
        if (io === 'output') delete jsonSchema.additionalProperties
      },
    }) as JsonSchema
    for (const [name, { id: _, ...component }] of Object.entries($defs as Record<string, JsonSchema>)) {
      this.components[name] = referring(component)
    }
    const { id, ...own } = made
    if (typeof id !== 'string') return referring(own)
    this.components[id] = referring(own)
    return { $ref: `#/components/schemas/${id}` }
  }
}

function referring(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')
  return JSON.parse(text) as JsonSchema
}
