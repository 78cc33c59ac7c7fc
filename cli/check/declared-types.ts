import { readFileSync } from 'node:fs'
import { readToml } from './toml-lines.ts'

/** The names of the counter types in a wrangler.toml; `null` if it does not say: options in code may. */
export function declaredTypes(file: string): string[] | null {
  try {
    const { vars } = readToml(readFileSync(file, 'utf8')).value as { vars?: { COUNTERS?: object } }
    return vars?.COUNTERS === undefined ? null : Object.keys(vars.COUNTERS)
  } catch {
    return null
  }
}
