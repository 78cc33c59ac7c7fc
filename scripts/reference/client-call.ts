import type { DocumentExample } from '../openapi/document-examples.ts'
import { needsToken } from './sent-with-token.ts'

/** Paths that the typed client has. The rest are for browsers. */
const KNOWN = /^\/(v1\/|healthz$|hit$)/
/** Names that need no quotes. */
const PLAIN = /^[A-Za-z_$][\w$]*$/

/**
 * The typed client's call that sends an example.
 *
 * @param path the path in the document's notation
 * @returns `undefined` if the client does not have the path, or the example shows a missing token
 */
export function clientCall(example: DocumentExample, path: string): string | undefined {
  if (!KNOWN.test(path) || (needsToken(example) === false && example.status === 401)) return undefined
  const { method, params, query, headers, body } = example
  // The client does not encode a path's parameters.
  const param = Object.entries(params).map(([name, value]) => `${name}: ${literal(value, name === 'key')}`)
  // Node and browsers send their own User-Agent.
  const header = Object.entries(headers).filter(([name]) => name !== 'User-Agent')
  const parts = [
    param.length > 0 && `param: { ${param.join(', ')} },`,
    Object.keys(query).length > 0 && `query: ${literal(asText(query))},`,
    header.length > 0 && `header: ${literal(Object.fromEntries(header))},`,
    body !== undefined && `json: ${literal(body)},`,
  ].filter((part) => part !== false)
  const route = path
    .slice(1)
    .split('/')
    .map((segment) => {
      const name = segment.replace(/^\{(.*)\}$/, ':$1')
      return PLAIN.test(name) ? `.${name}` : `['${name}']`
    })
    .join('')
  const given = parts.length === 0 ? '' : `{\n${parts.map((part) => `  ${part}\n`).join('')}}`
  return `const response = await client${route}.$${method.toLowerCase()}(${given})`
}

/** A query for the client, which expects numbers as text. */
function asText(query: DocumentExample['query']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]),
  )
}

/** A JSON value as a TypeScript literal. */
function literal(value: unknown, encoded = false): string {
  if (typeof value === 'string') {
    const text = `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
    return encoded ? `encodeURIComponent(${text})` : text
  }
  if (Array.isArray(value)) return `[${value.map((each) => literal(each)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([name, member]) => `${PLAIN.test(name) ? name : `'${name}'`}: ${literal(member)}`,
  )
  return `{ ${members.join(', ')} }`
}
