import packageJson from '../../package.json' with { type: 'json' }
import { sessionCookie } from '../../src/http/cookies.ts'
import type { Operation } from '../../src/openapi/contract.ts'
import type { DocumentedOperation } from './example.ts'
import { parametersOf } from './parameters.ts'
import { requestBodyOf } from './request-body.ts'
import { responsesOf } from './responses.ts'
import { type JsonSchema, Schemas } from './schema-conversion.ts'

/** The chapters of the API, in the order of the documentation. */
const TAGS: Record<Operation['tag'], string> = {
  Counting: 'Add to counters, from browsers and from programs. Responses report the outcome in `X-Hit`.',
  Changing: 'Set, delete, rename and merge counters, and import counts from elsewhere.',
  Reading: 'Read exact counts: `count = total + pending`, at every instant.',
  Images: 'Counts as badges and charts, for README pages. Public types only.',
  Operating: 'Monitor and maintain a running Worker.',
  Reference: 'This documentation.',
}

const DESCRIPTION =
  'Exact counts of page views and downloads. In a path, a key is one percent-encoded segment. Requests are read strictly: a request ' +
  'with an unknown parameter or member is refused, and nothing is counted; only images ignore unknown parameters. Errors are problem documents (RFC 9457) with a stable ' +
  '`code`. An unknown path returns 404; a method that a path does not support returns 405 with `Allow`. HEAD is supported ' +
  'wherever GET is.'

/** The scope that an operation needs, and whether it needs none for public types. */
const NEEDS = {
  anyone: null,
  count: { scope: 'count', unlessPublic: false },
  read: { scope: 'read', unlessPublic: false },
  manage: { scope: 'manage', unlessPublic: false },
  'read-unless-public': { scope: 'read', unlessPublic: true },
} as const

/** An operation in an OpenAPI 3.1 document. */
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

/** Builds the OpenAPI document of an API, in the order of its operations. */
export function openApiDocument(operations: Iterable<DocumentedOperation>): OpenApiDocument {
  const schemas = new Schemas()
  const paths: OpenApiDocument['paths'] = {}
  // Several of Hono's routes may share a handler.
  for (const operation of new Set(operations)) {
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
        token: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The secret `API_TOKEN`, or a token of `API_TOKENS`. The scopes are `count`, `read` and `manage`, which includes both others.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookie(''),
          description:
            'The cookie of a browser that is signed in to the dashboard, for the dashboard’s own pages. Over http, on your machine, its ' +
            'name is `session-` followed by the port.',
        },
      },
    },
  }
}

function describedOperation(schemas: Schemas, operation: DocumentedOperation): DescribedOperation {
  const parameters = parametersOf(schemas, operation)
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description + accessOf(operation),
    security: securityOf(operation),
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body && { requestBody: requestBodyOf(schemas, operation, operation.body) }),
    responses: responsesOf(schemas, operation),
  }
}

/** The security requirements of an operation. An empty one means that no credentials are needed. */
function securityOf({ access }: Operation): Record<string, string[]>[] {
  const needs = NEEDS[access]
  if (needs === null) return []
  return [...(needs.unlessPublic ? [{}] : []), { token: [needs.scope] }, { session: [needs.scope] }]
}

function accessOf({ access, path, typesInBody }: Operation): string {
  const needs = NEEDS[access]
  if (needs === null) return ''
  const ofAllTypes = !path.includes('{type}') && !typesInBody
  return ` Needs a token with the scope \`${needs.scope}\`${needs.unlessPublic ? ', unless the type is public' : ''}${ofAllTypes ? ', for all types' : ''}.`
}
