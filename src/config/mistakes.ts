import type * as v from 'valibot'
import { type FieldError, fieldErrors, parseInput } from '../schemas.ts'
import { type Bindings, OPTIONS } from './bindings.ts'

/** Thrown where a wrong setting is needed. Never contains a value, which may be a secret. */
export class ConfigurationError extends Error {
  readonly problems: readonly FieldError[]
  constructor(problems: readonly FieldError[]) {
    super(`The configuration has errors: ${problems.map(({ field, message }) => `${field} ${message}`).join('; ')}`)
    this.name = 'ConfigurationError'
    this.problems = problems
  }
}

/** Mistakes under the names that bindings have in `env`. */
export function underOwnNames(bindings: Bindings, mistakes: readonly FieldError[]): FieldError[] {
  const inEnv = bindings[OPTIONS]?.bindings ?? {}
  return mistakes.map(({ field, message }) => {
    const name = inEnv[field] ?? field
    return { field: name, message: message.replaceAll(field, name) }
  })
}

/**
 * Reads a setting. Its wrong parts are listed in `mistakes`, and read as if they were left out.
 * @param otherwise the value if the setting cannot be read without them
 */
export function readSetting<Schema extends v.GenericSchema, Otherwise = never>(
  schema: Schema,
  input: unknown,
  field: string,
  mistakes: FieldError[],
  otherwise?: Otherwise,
): v.InferOutput<Schema> | Otherwise {
  let rest = input
  for (;;) {
    const parsed = parseInput(schema, rest)
    if (parsed.success) return parsed.output
    const found = fieldErrors(parsed.issues, '').map((wrong) => {
      return { ...wrong, field: [field, wrong.field].filter(Boolean).join('.') }
    })
    // Without what is wrong in itself, parts may still contradict each other.
    const further = found.filter((wrong) => !mistakes.some((known) => known.field === wrong.field))
    if (further.length === 0) return otherwise as Otherwise
    mistakes.push(...further)
    rest = without(
      rest,
      parsed.issues.map(({ path = [] }) => path.map(({ key }) => String(key))),
    )
  }
}

/** A setting without some of its parts; `undefined` if all of it is one. */
function without(value: unknown, parts: readonly string[][]): unknown {
  if (parts.some(({ length }) => length === 0)) return undefined
  if (parts.length === 0 || typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).flatMap(([name, member]) => {
    const rest = without(
      member,
      parts.filter(([first]) => first === name).map(([, ...deeper]) => deeper),
    )
    return rest === undefined ? [] : [[name, rest] as const]
  })
  return Array.isArray(value) ? kept.map(([, member]) => member) : Object.fromEntries(kept)
}
