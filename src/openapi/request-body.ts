import type { Operation } from './operation.ts'
import type { JsonSchema, Schemas } from './schemas.ts'

/** What an operation takes in its body, with the bodies of its examples. */
export function requestBodyOf(
  schemas: Schemas,
  { examples, either }: Operation,
  { schema, contentTypes = ['application/json'], optional = false }: NonNullable<Operation['body']>,
): JsonSchema {
  const values = Object.entries(examples).flatMap(([name, { summary, body }]) =>
    body === undefined ? [] : [[name, { summary, value: body }] as const],
  )
  const described = schemas.of(schema, 'input')
  // The examples stand at the first one: the others take the same.
  const content = contentTypes.map((type, index) => [
    type,
    { schema: described, ...(index === 0 && values.length > 0 && { examples: Object.fromEntries(values) }) },
  ])
  return { required: !optional && !either, content: Object.fromEntries(content) }
}
