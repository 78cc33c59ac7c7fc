import { toJsonNumber } from './database/numbers.ts'

/**
 * Writes one structured line to the Worker's log.
 *
 * @param level `error` is for what is our own fault or our database's, never for what a client did
 * @param event what happened, a fixed word to search for
 * @param fields what else there is to know; bigints are written as numbers, with all their digits
 */
export function log(level: 'info' | 'warn' | 'error', event: string, fields: Record<string, unknown>): void {
  const line = JSON.stringify({ event, ...fields }, (_, value) =>
    typeof value === 'bigint' ? toJsonNumber(value) : value,
  )
  console[level](line)
}
