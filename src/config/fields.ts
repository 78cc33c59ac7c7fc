import * as z from 'zod/mini'
import type { FieldError } from '../field-errors.ts'

/** A setting that is a whole number within bounds. */
export function integer(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`
  return z
    .number({ error: message })
    .check(z.refine((value) => Number.isInteger(value) && value >= min && value <= max, message))
}

/** A setting that is on or off; off by default. */
export const flag = z._default(z.boolean({ error: 'must be true or false' }), false)

/** A setting that may be left out; then it is `null`. */
export const orNull = <Schema extends z.ZodMiniType>(schema: Schema) =>
  z.pipe(
    z.optional(schema),
    z.transform((value) => value ?? null),
  )

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name
/** A table with its names in camel case. */
export type CamelCased<Table> = { [Name in keyof Table as CamelCase<Name>]: Table[Name] }

/** A table of settings. Unknown names are refused. Names are in snake case in the configuration and in camel case in the code. */
export function table<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.pipe(
    z.strictObject(shape, {
      error: ({ code }) => (code === 'invalid_type' ? 'must be a table of settings' : undefined),
    }),
    z.transform((settings) => camelCased(settings)),
  )
}

/** A table that may be left out. Then its settings have their defaults. */
export function optionalTable<Shape extends z.core.$ZodShape>(shape: Shape) {
  const settings = table(shape)
  return z.prefault(settings, {} as z.input<typeof settings>)
}

function camelCased<Table extends object>(settings: Table): CamelCased<Table> {
  const entries = Object.entries(settings).map(([name, value]) => [inCamelCase(name), value])
  return Object.fromEntries(entries) as CamelCased<Table>
}

/** A name in snake case, written in camel case. */
export function inCamelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

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
