import { toJson } from './database/values.ts'

/**
 * Writes one structured line to the Worker's log.
 * @param level `error` is for faults of the Worker or its database, never for mistakes of a client
 * @param event what happened: a fixed word to search for
 * @param fields further facts; bigints are written as numbers with all of their digits
 */
export function log(level: 'info' | 'warn' | 'error', event: string, fields: Record<string, unknown>): void {
  console[level](toJson({ event, ...fields }))
}
