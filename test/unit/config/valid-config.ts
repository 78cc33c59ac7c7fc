import { readConfig } from '../../../src/config/config.ts'
import type { Bindings } from '../../../src/config/read-settings.ts'

/** The smallest valid configuration. */
export const VALID = {
  DATABASE_URL: 'https://user:password@aws.connect.psdb.cloud',
  API_TOKEN: 'token',
  COUNTERS: { page_view: { record_type: 1 } },
}

/** Reads the valid configuration with some changes. */
export const read = (changes: Bindings) => readConfig({ ...VALID, ...changes }).config

/** The problems of a configuration, each as `field message`. */
export const problems = (changes: Bindings) => problemsOf({ ...VALID, ...changes })

export function problemsOf(bindings: Bindings): string[] {
  return readConfig(bindings).mistakes.map(({ field, message }) => `${field} ${message}`)
}
