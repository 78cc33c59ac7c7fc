import type { RouterRoute } from 'hono/types'
import packageJson from '../../package.json' with { type: 'json' }
import { type Operation, operationsOf } from './operation.ts'
import { parametersOf } from './parameters.ts'
import { requestBodyOf } from './request-body.ts'
import { responsesOf } from './responses.ts'
import { type JsonSchema, Schemas } from './schemas.ts'
import { TAGS } from './tags.ts'

const DESCRIPTION =
  'Exact counts of page views and downloads. Keys are percent-encoded as one segment of the path. Requests are read strictly: ' +
  'parameters and members that are not known are refused, and nothing is counted then. Errors are problem documents (RFC 9457) ' +
  'with a stable `code`; a path that is not known is answered 404, a method that a path does not take 405 with `Allow`. Where GET is ' +
  'described, HEAD is answered too.'

/** Security requirements by who may ask. An empty one means: nothing is needed. */
const SECURITY = {
  anyone: [],
  token: [{ token: [] }, { session: [] }],
  'token-unless-public': [{}, { token: [] }, { session: [] }],
}

/** One operation as OpenAPI 3.1 writes it. */
export interface DescribedOperation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security: readonly Record<string, string[]>[]
  parameters?: JsonSchema[]
  requestBody?: JsonSchema
  responses: Record<string, JsonSchema>
}

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  openapi: string
  info: JsonSchema
  servers: { url: string; description: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, JsonSchema> }
}

/** The OpenAPI document of an app's routes: of every one that was given to `describe`, and in their order. */
export function openApiDocument(routes: readonly RouterRoute[]): OpenApiDocument {
  const schemas = new Schemas()
  const paths: OpenApiDocument['paths'] = {}
  // A handler may serve several of Hono's routes.
  for (const operation of new Set(routes.flatMap(operationsOf))) {
    const methods = paths[operation.path] ?? {}
    methods[operation.method] = describedOperation(schemas, operation)
    paths[operation.path] = methods
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Slotted Counter',
      version: packageJson.version,
      summary: packageJson.description,
      description: DESCRIPTION,
      license: { name: packageJson.license, identifier: packageJson.license },
    },
    servers: [{ url: '/', description: 'The Worker that serves this document.' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: schemas.components,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The secret `API_TOKEN`.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-session',
          description:
            'What a browser has after signing in to the dashboard, for the dashboard’s own pages. Over http, on your machine, its name is ' +
            '`session-` and the port.',
        },
      },
    },
  }
}

function describedOperation(schemas: Schemas, operation: Operation): DescribedOperation {
  const parameters = parametersOf(schemas, operation)
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    security: SECURITY[operation.access],
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body && { requestBody: requestBodyOf(schemas, operation, operation.body) }),
    responses: responsesOf(schemas, operation),
  }
}
