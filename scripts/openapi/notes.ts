import type { Notes } from '../../src/openapi/contract.ts'
import { usualNotes } from '../../src/openapi/fields.ts'
import type { JsonSchema, Schemas } from './schema-conversion.ts'

/** Adds an operation's notes to the schema of its parameters or its body, and of the entries of a list in the body. */
export function withNotes(schemas: Schemas, { properties, ...schema }: JsonSchema, notes: Notes = {}): JsonSchema {
  const noted = Object.entries((properties ?? {}) as Record<string, JsonSchema>).map(([name, property]) => {
    const note = notes[name] ?? usualNotes()[name] ?? {}
    const { entry, ...members } = typeof note === 'string' ? { description: note } : note
    if (typeof entry !== 'string') return [name, { ...property, ...members }]
    schemas.components[entry] = withNotes(schemas, property.items as JsonSchema, notes)
    return [name, { ...property, items: { $ref: `#/components/schemas/${entry}` } }]
  })
  return { ...schema, ...(properties !== undefined && { properties: Object.fromEntries(noted) }) }
}
