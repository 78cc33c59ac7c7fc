import { readFileSync } from 'node:fs'
import { DEFAULT_COUNTERS } from '../../src/config/read-types.ts'
import { readToml } from './toml-lines.ts'

/** The names of the counter types of a wrangler.toml; `null` if it cannot be read. */
export function declaredTypes(file: string): string[] | null {
  try {
    const { vars } = readToml(readFileSync(file, 'utf8')).value as { vars?: { COUNTERS?: object } }
    return Object.keys(vars?.COUNTERS ?? DEFAULT_COUNTERS)
  } catch {
    return null
  }
}
