import type { DescribedOperation } from './document.ts'
import type { JsonSchema } from './schema-conversion.ts'

type Examples = Record<string, { summary: string; value: unknown }> | undefined

/** A parameter in the document. */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: JsonSchema
  examples?: Examples
}

/** A body of one media type in the document. */
export interface Content {
  schema: JsonSchema
  examples?: Examples
}

/** An example of an OpenAPI document, assembled from the document alone, as a reader would do it. */
export interface DocumentExample {
  /** The operation's id and the example's name. */
  name: string
  summary: string
  operation: DescribedOperation
  method: string
  /** The path with its query, percent-encoded. */
  path: string
  /** The path's parameters, not encoded. */
  params: Record<string, string>
  query: Record<string, unknown>
  headers: Record<string, string>
  body: unknown
  contentType: string | undefined
  status: number
  /** The response's body, if the document has one. */
  answer: unknown
  /** The response's headers in the document. */
  says: Record<string, string>
}

/** The examples of an operation, successful ones first. */
export function operationExamples(path: string, method: string, operation: DescribedOperation): DocumentExample[] {
  return namesOf(operation)
    .map((name) => assemble(path, method, operation, name))
    .sort((a, b) => Number(a.status >= 400) - Number(b.status >= 400))
}

function assemble(path: string, method: string, operation: DescribedOperation, name: string): DocumentExample {
  const example: DocumentExample = {
    name: `${operation.operationId}: ${name}`,
    operation,
    method: method.toUpperCase(),
    summary: '',
    path,
    params: {},
    query: {},
    headers: {},
    body: undefined,
    contentType: undefined,
    status: 0,
    answer: undefined,
    says: {},
  }
  const query = new URLSearchParams()
  for (const parameter of parametersOf(operation)) {
    const given = parameter.examples?.[name]
    if (given === undefined) {
      if (parameter.required) throw new Error(`${example.name} has no ${parameter.name}`)
      continue
    }
    const { summary, value } = given
    example.summary = summary
    if (parameter.in === 'header') example.headers[parameter.name] = String(value)
    else if (parameter.in === 'path') {
      example.params[parameter.name] = String(value)
      example.path = example.path.replace(`{${parameter.name}}`, encodeURIComponent(String(value)))
    } else {
      example.query[parameter.name] = value
      for (const each of [value].flat()) query.append(parameter.name, String(each))
    }
  }
  if (query.size > 0) example.path += `?${query}`
  for (const [type, { examples }] of contentOf(operation.requestBody)) {
    if (examples?.[name] === undefined) continue
    example.contentType = type
    example.summary = examples[name].summary
    example.body = examples[name].value
  }
  for (const [status, response] of Object.entries(operation.responses)) {
    for (const [, { examples }] of contentOf(response)) {
      if (examples?.[name] === undefined) continue
      example.status = Number(status)
      example.summary = examples[name].summary
      example.answer = examples[name].value
    }
    for (const [header, { examples }] of Object.entries((response.headers ?? {}) as Record<string, Content>)) {
      if (examples?.[name] === undefined) continue
      example.status = Number(status)
      example.summary = examples[name].summary
      example.says[header] = String(examples[name].value)
    }
  }
  return example
}

function namesOf(operation: DescribedOperation): string[] {
  const places: Examples[] = []
  for (const part of [operation.requestBody, ...Object.values(operation.responses)]) {
    places.push(...contentOf(part).map(([, { examples }]) => examples))
    places.push(...Object.values((part?.headers ?? {}) as Record<string, Content>).map(({ examples }) => examples))
  }
  places.push(...parametersOf(operation).map(({ examples }) => examples))
  return [...new Set(places.flatMap((examples) => Object.keys(examples ?? {})))]
}

/** The parameters of an operation. */
export function parametersOf({ parameters = [] }: DescribedOperation): Parameter[] {
  return parameters as unknown as Parameter[]
}

/** The media types of a request's or a response's body. */
export function contentOf(part: { content?: unknown } | undefined): [string, Content][] {
  return Object.entries((part?.content ?? {}) as Record<string, Content>)
}
