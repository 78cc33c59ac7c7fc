import type { FieldError } from '../field-errors.ts'

/** Under which bindings say how their settings were written, if not as in wrangler.toml. */
export const WRITTEN = Symbol('written settings')

/** How settings were written. */
export interface WrittenSettings {
  /** Writes a setting's name as its author did. `name` is that of wrangler.toml, such as `ROLLUP.max_seconds`. */
  nameOf(name: string): string
  /** What is wrong with names that no setting has. */
  problems: readonly FieldError[]
}

/** A setting’s name, in a field or in the middle of a message. What comes behind `vars.` is about wrangler.toml. */
const NAME = /(?<!vars\.)\b[A-Z]+(?:_[A-Z]+)*\b(?:\.[\w-]+)*/g

/** Problems with the names that the settings' author knows. */
export function asWritten(
  written: WrittenSettings | undefined,
  problems: readonly FieldError[],
): readonly FieldError[] {
  if (written === undefined) return problems
  const named = (text: string) => text.replace(NAME, (name) => written.nameOf(name))
  return problems.map(({ field, message }) => ({ field: named(field), message: named(message) }))
}
