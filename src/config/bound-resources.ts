import type { FieldError } from '../schemas.ts'
import { type Bindings, OPTIONS } from './read-settings.ts'

/** The method by which each binding is recognized. */
const METHODS: Readonly<Record<string, string>> = {
  BATCHES: 'sendBatch',
  DEAD_BATCHES: 'sendBatch',
  VISITOR_LIMIT: 'limit',
  READER_LIMIT: 'limit',
  NEW_KEY_LIMIT: 'limit',
}

/**
 * Names bindings that are missing although something asks for them: another one with nearly their name, an option that names them, or a
 * queue for dead batches. What else `env` has may belong to the application that mounts the counter.
 */
export function missingBindings(bindings: Bindings): FieldError[] {
  const missing = Object.keys(METHODS).filter((name) => bindings[name] === undefined)
  const isBound = (name: string, as: string) => typeof Object(bindings[name])[METHODS[as]!] === 'function'
  const misspelt = Object.keys(bindings).flatMap((field) => {
    const meant = similarName(field, missing)
    return meant !== undefined && isBound(field, meant) ? { field, meant } : []
  })
  const asked = [
    ...Object.keys(bindings[OPTIONS]?.bindings ?? {}),
    ...(isBound('DEAD_BATCHES', 'DEAD_BATCHES') ? ['BATCHES'] : []),
  ].filter((name) => missing.includes(name) && !misspelt.some(({ meant }) => meant === name))
  return [
    ...misspelt.map(({ field, meant }) => ({ field, message: `is not known here, and ${meant} is not bound` })),
    ...[...new Set(asked)].map((field) => ({ field, message: 'is missing: bind it in wrangler.toml' })),
  ]
}

/** The one of some names that a misspelt one probably is: they differ by case, or by one or two neighboring letters. */
export function similarName(misspelt: string, names: readonly string[]): string | undefined {
  const forms = (name: string) => {
    const text = name.toUpperCase().replaceAll(/[^A-Z]/g, '')
    return [text, ...Array.from(text, (_, i) => text.slice(0, i) + text.slice(i + 1))]
  }
  const own = new Set(forms(misspelt))
  return names.find((name) => forms(name).some((form) => own.has(form)))
}
