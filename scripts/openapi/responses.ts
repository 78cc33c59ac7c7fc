import type { Answer, HeaderName } from '../../src/openapi/contract.ts'
import { PROBLEMS, type ProblemCode } from '../../src/service/problem.ts'
import type { DocumentedOperation, Example } from './example.ts'
import { HEADERS } from './headers.ts'
import { problemDocument, problemsOf } from './problems.ts'
import type { JsonSchema, Schemas } from './schema-conversion.ts'

/** The responses of an operation by status: its own responses and its problems. */
export function responsesOf(schemas: Schemas, operation: DocumentedOperation): Record<string, JsonSchema> {
  const responses: Record<string, JsonSchema> = {}
  const isRevalidated = operation.revalidated || operation.access === 'read-unless-public'
  const [usual] = Object.keys(operation.answers)
  const examplesOf = (status: string) =>
    Object.entries(operation.examples).filter(([, example]) => String(example.status ?? usual) === status)

  for (const [status, answer] of Object.entries(operation.answers)) {
    responses[status] = answerOf(schemas, operation, isRevalidated && status === usual, answer, examplesOf(status))
  }
  if (isRevalidated) {
    responses[304] = {
      description: 'Unchanged since the response whose `ETag` was sent in `If-None-Match`.',
      headers: headersOf(schemas, ['ETag', 'Cache-Control']),
    }
  }
  if (operation.problems === undefined) return responses
  for (const [status, these] of byStatus(problemsOf(operation))) {
    responses[status] ??= problemOf(schemas, operation, status, these, examplesOf(String(status)))
  }
  return responses
}

/** Groups codes by their HTTP status. */
function byStatus(codes: Iterable<ProblemCode>): Map<number, ProblemCode[]> {
  const statuses = new Map<number, ProblemCode[]>()
  for (const code of codes) {
    const status = PROBLEMS[code].status
    statuses.set(status, [...(statuses.get(status) ?? []), code])
  }
  return new Map([...statuses].sort(([a], [b]) => a - b))
}

type NamedExamples = [string, Example][]

function answerOf(
  schemas: Schemas,
  { file, tellsHit, idempotency = 'count' }: DocumentedOperation,
  isRevalidated: boolean,
  { description, schema, contentType, csv, headers = [] }: Answer,
  examples: NamedExamples,
): JsonSchema {
  const type = contentType ?? (schema && 'application/json')
  const values = examples.flatMap(([name, { summary, answer }]) =>
    answer === undefined ? [] : [[name, { summary, value: answer }] as const],
  )
  const names: HeaderName[] = [...headers]
  if (tellsHit) names.push('X-Hit')
  if (idempotency !== 'count') names.push('Idempotent-Replayed')
  if (isRevalidated) names.push('ETag', 'Cache-Control')
  if (schema !== undefined && !file) names.push('X-Request-Id')
  return {
    description,
    ...(names.length > 0 && { headers: headersOf(schemas, names, examples) }),
    ...(type && {
      content: {
        [type]: {
          schema: schema ? schemas.of(schema, 'output') : { type: 'string' },
          ...(values.length > 0 && { examples: Object.fromEntries(values) }),
        },
        ...(csv && { 'text/csv': { schema: { type: 'string' } } }),
      },
    }),
  }
}

function problemOf(
  schemas: Schemas,
  { tellsHit }: DocumentedOperation,
  status: number,
  codes: readonly ProblemCode[],
  examples: NamedExamples,
): JsonSchema {
  const names: HeaderName[] = ['X-Request-Id']
  if (tellsHit) names.push('X-Hit')
  if (status === 401) names.push('WWW-Authenticate')
  if (status === 503 || status === 409 || status === 429) names.push('Retry-After')
  const values = examples.map(([name, { summary, answer }]) => [name, { summary, value: answer }])
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(' '),
    headers: headersOf(schemas, names, examples),
    content: {
      'application/problem+json': {
        schema: { allOf: [schemas.of(problemDocument, 'output'), { properties: { code: { enum: codes } } }] },
        ...(values.length > 0 && { examples: Object.fromEntries(values) }),
      },
    },
  }
}

function headersOf(schemas: Schemas, names: readonly HeaderName[], examples: NamedExamples = []): JsonSchema {
  return Object.fromEntries(
    names.map((name) => {
      const { description, schema } = HEADERS[name]
      const values = examples.flatMap(([example, { summary, says }]) =>
        says?.[name] === undefined ? [] : [[example, { summary, value: says[name] }] as const],
      )
      return [
        name,
        {
          description,
          schema: schemas.of(schema, 'output'),
          ...(values.length > 0 && { examples: Object.fromEntries(values) }),
        },
      ]
    }),
  )
}
