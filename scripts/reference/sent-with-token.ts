import type { DocumentExample } from '../openapi/document-examples.ts'

/** Whether to send an example with the token: the operation requires it, and the example does not show a missing token. */
export function needsToken({ operation, status }: DocumentExample): boolean {
  return (
    status !== 401 && operation.security.length > 0 && operation.security.every((way) => Object.keys(way).length > 0)
  )
}
