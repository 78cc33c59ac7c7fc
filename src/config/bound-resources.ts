import type { FieldError } from '../schemas.ts'
import { type Bindings, OPTIONS } from './read-settings.ts'
import { similarName } from './similar-name.ts'

const NAMES = ['BATCHES', 'DEAD_BATCHES', 'VISITOR_LIMIT', 'READER_LIMIT', 'NEW_KEY_LIMIT']

/**
 * Names bindings that are missing although something asks for them: another one with nearly their name, an option that names them, or a
 * queue for dead batches. If an application mounts the counter, similar names may be its own.
 */
export function missingBindings(bindings: Bindings): FieldError[] {
  const { bindings: named = {} } = bindings[OPTIONS] ?? {}
  const isMounted = bindings[OPTIONS] !== undefined
  const isBound = (name: string, as: string) =>
    typeof Object(bindings[name])[as.endsWith('LIMIT') ? 'limit' : 'sendBatch'] === 'function'
  return NAMES.filter((name) => bindings[name] === undefined).flatMap((name) => {
    const field = Object.keys(bindings).find(
      (other) => !isMounted && similarName(other, [name]) && isBound(other, name),
    )
    if (field !== undefined) return { field, message: `is not known here, and ${name} is not bound` }
    const isAsked = Object.hasOwn(named, name) || (name === 'BATCHES' && isBound('DEAD_BATCHES', name))
    return isAsked ? { field: name, message: 'is missing: bind it in wrangler.toml' } : []
  })
}
