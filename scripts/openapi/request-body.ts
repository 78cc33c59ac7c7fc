import type { Operation } from '../../src/openapi/contract.ts'
import type { DocumentedOperation } from './example.ts'
import { withNotes } from './notes.ts'
import type { JsonSchema, Schemas } from './schema-conversion.ts'

/** The request body of an operation, with the bodies of its examples. */
export function requestBodyOf(
  schemas: Schemas,
  { examples, either, notes }: DocumentedOperation,
  { schema, contentTypes = ['application/json'], optional = false }: NonNullable<Operation['body']>,
): JsonSchema {
  const values = Object.entries(examples).flatMap(([name, { summary, body }]) =>
    body === undefined ? [] : [[name, { summary, value: body }] as const],
  )
  const described = withNotes(schemas, schemas.of(schema(), 'input'), notes)
  // Only the first media type has the examples. The other ones accept the same bodies.
  const content = contentTypes.map((type, index) => [
    type,
    { schema: described, ...(index === 0 && values.length > 0 && { examples: Object.fromEntries(values) }) },
  ])
  return { required: !optional && !either, content: Object.fromEntries(content) }
}
