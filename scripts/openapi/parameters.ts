import * as v from 'valibot'
import { described, type Operation, TYPE_DESCRIPTION } from '../../src/openapi/contract.ts'
import type { DocumentedOperation } from './example.ts'
import { idempotencyHeader } from './headers.ts'
import { withNotes } from './notes.ts'
import type { JsonSchema, Schemas } from './schema-conversion.ts'

const PATH_PARAMETERS: Record<string, v.GenericSchema> = {
  type: described(v.string(), TYPE_DESCRIPTION),
  key: described(
    v.string(),
    'The key, up to 512 bytes, percent-encoded as one path segment: write `/blog/hello` as `%2Fblog%2Fhello`.',
  ),
}

function pathParametersOf({ path, params }: Operation): v.ObjectEntries {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  return Object.fromEntries(names.map((name) => [name, params?.[name] ?? PATH_PARAMETERS[name]!]))
}

/** The parameters of an operation. Each has its values from the operation's examples, by the example's name. */
export function parametersOf(schemas: Schemas, operation: DocumentedOperation): JsonSchema[] {
  return [
    ...placed(schemas, operation, 'path', pathParametersOf(operation)),
    ...placed(schemas, operation, 'query', operation.query?.()),
    ...placed(schemas, operation, 'header', { ...idempotencyHeader(operation.idempotency), ...operation.headers }),
  ]
}

const EXAMPLES_OF = { path: 'params', query: 'query', header: 'headers' } as const

function placed(
  schemas: Schemas,
  operation: DocumentedOperation,
  place: keyof typeof EXAMPLES_OF,
  shape: v.ObjectEntries = {},
): JsonSchema[] {
  const converted = schemas.of(v.object(shape), 'input')
  const { properties = {}, required = [] } =
    place === 'query' ? withNotes(schemas, converted, operation.notes) : converted
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, { description, ...schema }]) => {
    const values = Object.entries(operation.examples).flatMap(([example, { summary, [EXAMPLES_OF[place]]: given }]) =>
      given?.[name] === undefined ? [] : [[example, { summary, value: typed(schema, given[name]) }] as const],
    )
    return {
      name,
      in: place,
      required: place === 'path' || (!operation.either && (required as string[]).includes(name)),
      ...(description !== undefined && { description }),
      schema,
      ...(values.length > 0 && { examples: Object.fromEntries(values) }),
    }
  })
}

/** An example's value in the type that the document declares. The request sends it as text. */
function typed({ type }: JsonSchema, text: string | readonly string[]): string | number | readonly string[] {
  return type === 'integer' ? Number(text) : text
}
