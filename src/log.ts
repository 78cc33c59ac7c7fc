import { toJson } from './database/values.ts'

/** Writes one line to the Worker's log. @param level `error`: a fault of the Worker or its database, never a mistake of a client */
export function log(level: 'info' | 'warn' | 'error', event: string, fields: Record<string, unknown>): void {
  console[level](toJson({ event, ...fields }))
}
