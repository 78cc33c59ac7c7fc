import * as v from 'valibot'
import { type FieldError, MESSAGES, unknownName } from '../schemas.ts'
import { unknownAmong } from './similar-name.ts'

/** The key of what the options of `createSlottedCounter` name. */
export const OPTIONS = Symbol('options')

/** What the platform binds to the Worker, unchecked: see `readConfig`, and `settings` for the names. */
export interface Bindings {
  [name: string]: unknown
  /** The names that bindings have in `env`, and the settings given. Set by `bindingsOf`. */
  [OPTIONS]?: { bindings: Readonly<Record<string, string>>; settings: readonly string[] }
}

/** A base path: segments that need no encoding in a URL, in HTML or in the name of a cookie. */
export const BASE_PATH_FORM = /^(?:\/[\w-]*\w)+$/

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

/** Reads a setting. If it is wrong, `mistakes` says so, and it has its default, or `undefined`; wrong items of a list are left out. */
export function readSetting<Schema extends v.GenericSchema>(
  schema: Schema,
  given: unknown,
  field: string,
  mistakes: FieldError[],
): v.InferOutput<Schema> {
  const { success, output, issues = [] } = v.safeParse(schema, given, { ...MESSAGES, abortPipeEarly: true })
  if (success) return output
  const places = issues.map(({ path = [] }) => path.map(({ key }) => key))
  mistakes.push(...issues.map(({ message }, i) => ({ field: [field, ...places[i]!].join('.'), message })))
  const isOfItems = Array.isArray(given) && places.every((place) => place.length > 0)
  const rest = isOfItems ? given.filter((_, index) => !places.some(([wrong]) => wrong === index)) : undefined
  const again = v.safeParse(schema, rest)
  return again.success ? again.output : undefined
}

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name

/** The settings of a table, as the code names them. */
export type TableOf<Entries extends v.ObjectEntries> = {
  [Name in keyof Entries as CamelCase<Name>]: v.InferOutput<Entries[Name]>
}

/** Reads the settings of a table, each by itself as `readSetting` does, from names in snake case. */
export function readTable<Entries extends v.ObjectEntries>(
  entries: Entries,
  given: unknown = {},
  field: string,
  mistakes: FieldError[],
): TableOf<Entries> {
  const table = isTable(given) ? given : {}
  const wrong: FieldError[] = []
  const read = Object.entries(entries).map(([name, schema]) => {
    const inCamelCase = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    return [inCamelCase, readSetting(schema as v.GenericSchema, table[name], `${field}.${name}`, wrong)]
  })
  const known = Object.keys(entries)
  const unknown = Object.keys(table).filter((name) => !known.includes(name))
  wrong.push(...unknown.map((name) => unknownName([field, name], field, unknownAmong(known, name))))
  mistakes.push(...(table === given ? wrong : [{ field, message: 'must be a table of settings' }]))
  return Object.fromEntries(read) as TableOf<Entries>
}

export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
