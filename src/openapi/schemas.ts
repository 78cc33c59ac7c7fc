import * as z from 'zod'

/** A JSON Schema (draft 2020-12, which is what OpenAPI 3.1 takes). */
export type JsonSchema = { [keyword: string]: unknown }

/** The schemas of a document: those with a name (`meta({ id })`) stand under `components` once, and are referred to. */
export class Schemas {
  readonly components: Record<string, JsonSchema> = {}
  // The same few stand at every operation, and one takes a tenth of a millisecond.
  readonly #made = { input: new Map<z.ZodType, JsonSchema>(), output: new Map<z.ZodType, JsonSchema>() }

  /**
   * @param schema by which something is checked
   * @param io whether the document describes what is sent (`input`) or what comes back
   */
  of(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const known = this.#made[io].get(schema)
    if (known !== undefined) return known
    const made = this.#make(schema, io)
    this.#made[io].set(schema, made)
    return made
  }

  #make(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const {
      $schema: _,
      $defs = {},
      ...made
    } = z.toJSONSchema(schema, {
      io,
      // What is sent is read strictly; answers may gain members, which a client must not take for an error.
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
