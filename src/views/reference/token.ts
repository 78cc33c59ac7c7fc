import type { DocumentExample } from '../../openapi/document-examples.ts'

/** Whether an example is sent with the token: where nobody may do without, and unless it shows just that. */
export function sendsToken({ operation, status }: DocumentExample): boolean {
  return (
    status !== 401 && operation.security.length > 0 && operation.security.every((way) => Object.keys(way).length > 0)
  )
}
