import type { Bindings } from '../../../src/config/bindings.ts'
import { ConfigurationError, readConfig } from '../../../src/config/config.ts'

/** The smallest valid configuration. */
export const VALID = {
  DATABASE_URL: 'https://user:password@aws.connect.psdb.cloud',
  API_TOKEN: 'token',
  COUNTERS: { page_view: { record_type: 1 } },
}

/** Reads the valid configuration with some changes. */
export const read = (changes: Bindings) => readConfig({ ...VALID, ...changes })

/** The problems of a configuration, each as `field message`. */
export function problems(changes: Bindings): string[] {
  try {
    read(changes)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems.map(({ field, message }) => `${field} ${message}`)
    throw error
  }
  return []
}
