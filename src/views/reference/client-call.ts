import type { DocumentExample } from '../../openapi/document-examples.ts'
import { sendsToken } from './token.ts'

/** Paths that the typed client knows. The others are for browsers. */
const KNOWN = /^\/(v1\/|healthz$|hit$)/
/** Names that need no quotes. */
const PLAIN = /^[A-Za-z_$][\w$]*$/

/**
 * The call of the typed client that sends an example; `undefined` for what is no business of its.
 *
 * @param path as the document writes it
 */
export function clientCall(example: DocumentExample, path: string): string | undefined {
  if (!KNOWN.test(path) || (sendsToken(example) === false && example.status === 401)) return undefined
  const { method, params, query, headers, body } = example
  // The client puts a path's parameters in as they are.
  const param = Object.entries(params).map(([name, value]) => `${name}: ${literal(value, name === 'key')}`)
  // Node and browsers say themselves who they are.
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

/** A query as the client takes it: text, numbers too. */
function asText(query: DocumentExample['query']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]),
  )
}

/** A JSON value as TypeScript is usually written. */
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
