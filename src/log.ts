import { toJson } from './database/values.ts'

/**
 * Writes one structured line to the Worker's log, with all digits of bigints.
 * @param level `error` is for faults of the Worker or its database, never for mistakes of a client
 */
export function log(level: 'info' | 'warn' | 'error', event: string, fields: Record<string, unknown>): void {
  console[level](toJson({ event, ...fields }))
}
