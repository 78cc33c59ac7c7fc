import type { DocumentExample } from '../openapi/document-examples.ts'

/**
 * The curl command that sends an example.
 *
 * @param origin the Worker's origin
 */
export function curl(example: DocumentExample, origin: string): string {
  const { method, path, headers, body, contentType } = example
  const parts = [
    `curl -i ${method === 'GET' || (method === 'POST' && body !== undefined) ? '' : `-X ${method} `}${quote(origin + path)}`,
  ]
  if (needsToken(example)) parts.push('-H "Authorization: Bearer $TOKEN"')
  for (const [name, value] of Object.entries(headers)) {
    parts.push(name === 'User-Agent' ? `-A ${quote(value)}` : `-H ${quote(`${name}: ${value}`)}`)
  }
  if (contentType !== undefined) parts.push(`-H ${quote(`Content-Type: ${contentType}`)}`)
  if (body !== undefined) parts.push(`-d ${quote(JSON.stringify(body))}`)
  return parts.join(' \\\n  ')
}

/** Quotes text as one word for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/**
 * Whether to send an example with the token: the operation requires it, or the example reads a prefix, which a type need not list.
 * Not if it shows a missing token.
 */
function needsToken({ operation: { security }, status, query }: DocumentExample): boolean {
  const isRequired = security.every((way) => Object.keys(way).length > 0)
  return status !== 401 && security.length > 0 && (isRequired || 'prefix' in query)
}
