import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'

/** A JSON Schema, draft 2020-12, which OpenAPI 3.1 uses. */
export type JsonSchema = { [keyword: string]: unknown }

/** The schemas of a document. Named ones (`namedObject`) are collected once under `components` and referred to. */
export class Schemas {
  readonly components: Record<string, JsonSchema> = {}
  // Operations share a few schemas, and converting one takes a tenth of a millisecond.
  readonly #made = { input: new Map<v.GenericSchema, JsonSchema>(), output: new Map<v.GenericSchema, JsonSchema>() }

  /**
   * Converts a schema, or returns a reference to it if it has a name.
   *
   * @param io `input` for requests, `output` for responses
   */
  of(schema: v.GenericSchema, io: 'input' | 'output'): JsonSchema {
    const known = this.#made[io].get(schema)
    if (known !== undefined) return known
    const made = this.#make(schema, io)
    this.#made[io].set(schema, made)
    return made
  }

  #make(schema: v.GenericSchema, io: 'input' | 'output'): JsonSchema {
    const { $schema: _, ...made } = toJsonSchema(schema, {
      target: 'draft-2020-12',
      typeMode: io,
      ignoreActions: ['check', 'raw_transform', 'transform'],
      overrideSchema: ({ valibotSchema, jsonSchema }) => {
        if (valibotSchema.type === 'literal') return { type: typeof jsonSchema.const as 'string', ...jsonSchema }
        if (jsonSchema.required?.length === 0) delete jsonSchema.required
        // Requests are read strictly. Responses may gain members, which clients must not treat as errors.
        if (io === 'output') delete jsonSchema.additionalProperties
        else if (valibotSchema.type === 'object_with_rest') jsonSchema.additionalProperties = false
        return jsonSchema
      },
      overrideAction: ({ jsonSchema }) => {
        const { id, ...described } = jsonSchema as JsonSchema
        if (typeof id !== 'string') return described
        this.components[id] = described
        return { $ref: `#/components/schemas/${id}` }
      },
    })
    return made
  }
}
