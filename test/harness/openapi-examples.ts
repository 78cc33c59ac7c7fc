import type { DescribedOperation, OpenApiDocument } from '../../src/openapi/document.ts'

type Examples = Record<string, { value: unknown }> | undefined
interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  examples?: Examples
}
interface Content {
  examples?: Examples
}

/** One example of an OpenAPI document, put together from the document alone, as a reader would. */
export interface DocumentExample {
  name: string
  operation: DescribedOperation
  method: string
  path: string
  headers: Record<string, string>
  body: unknown
  contentType: string | undefined
  status: number
  /** What the document says comes back, if it says so. */
  answer: unknown
  says: Record<string, string>
}

/** All examples of a document, by operation and name. */
export function examplesOf(document: OpenApiDocument): DocumentExample[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      namesOf(operation).map((name) => put(path, method, operation, name)),
    ),
  )
}

function put(path: string, method: string, operation: DescribedOperation, name: string): DocumentExample {
  const example: DocumentExample = {
    name: `${operation.operationId}: ${name}`,
    operation,
    method: method.toUpperCase(),
    path,
    headers: {},
    body: undefined,
    contentType: undefined,
    status: 0,
    answer: undefined,
    says: {},
  }
  const query = new URLSearchParams()
  for (const parameter of parametersOf(operation)) {
    const value = parameter.examples?.[name]?.value
    if (value === undefined) {
      if (parameter.required) throw new Error(`${example.name} has no ${parameter.name}`)
      continue
    }
    if (parameter.in === 'header') example.headers[parameter.name] = String(value)
    else if (parameter.in === 'path') {
      example.path = example.path.replace(`{${parameter.name}}`, encodeURIComponent(String(value)))
    } else for (const each of [value].flat()) query.append(parameter.name, String(each))
  }
  if (query.size > 0) example.path += `?${query}`
  for (const [type, { examples }] of contentOf(operation.requestBody)) {
    if (examples?.[name] === undefined) continue
    example.contentType = type
    example.body = examples[name].value
  }
  for (const [status, response] of Object.entries(operation.responses)) {
    for (const [, { examples }] of contentOf(response)) {
      if (examples?.[name] === undefined) continue
      example.status = Number(status)
      example.answer = examples[name].value
    }
    for (const [header, { examples }] of Object.entries((response.headers ?? {}) as Record<string, Content>)) {
      if (examples?.[name] === undefined) continue
      example.status = Number(status)
      example.says[header] = String(examples[name].value)
    }
  }
  return example
}

function namesOf(operation: DescribedOperation): string[] {
  const places: Examples[] = parametersOf(operation).map(({ examples }) => examples)
  for (const part of [operation.requestBody, ...Object.values(operation.responses)]) {
    places.push(...contentOf(part).map(([, { examples }]) => examples))
    places.push(...Object.values((part?.headers ?? {}) as Record<string, Content>).map(({ examples }) => examples))
  }
  return [...new Set(places.flatMap((examples) => Object.keys(examples ?? {})))]
}

function parametersOf({ parameters = [] }: DescribedOperation): Parameter[] {
  return parameters as unknown as Parameter[]
}

function contentOf(part: { content?: unknown } | undefined): [string, Content][] {
  return Object.entries((part?.content ?? {}) as Record<string, Content>)
}
