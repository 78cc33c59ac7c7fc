import type { DocumentExample } from '../openapi/document-examples.ts'

/**
 * Whether to send an example with the token: the operation requires it, or the example reads a prefix, which a type need not list.
 * Not if it shows a missing token.
 */
export function needsToken({ operation: { security }, status, query }: DocumentExample): boolean {
  const isRequired = security.every((way) => Object.keys(way).length > 0)
  return status !== 401 && security.length > 0 && (isRequired || 'prefix' in query)
}
