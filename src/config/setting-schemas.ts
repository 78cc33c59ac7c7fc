import * as v from 'valibot'
import { strictObject } from '../schema-errors.ts'

export const integer = (min: number, max: number, rule = `must be a whole number from ${min} to ${max}`) =>
  v.pipe(
    v.number(rule),
    v.check((value) => Number.isInteger(value) && value >= min && value <= max, rule),
  )

/** Text that must follow a rule. */
export const textThat = (rule: string, fits: (value: string) => boolean) => v.pipe(v.string(rule), v.check(fits, rule))

/** Text that `parse` turns into a value, or into nothing if it breaks the rule. */
export const parsed = <Value>(parse: (text: string) => Value | null | undefined, rule: string) =>
  v.pipe(
    v.string(rule),
    v.rawTransform(({ dataset, addIssue, NEVER }): Value => {
      const value = parse(dataset.value) ?? undefined
      if (value !== undefined) return value
      addIssue({ message: rule })
      return NEVER
    }),
  )

export const flag = v.optional(v.boolean('must be true or false'), false)

/** An optional setting; `null` if left out. The default, which is nothing, makes valibot transform what is missing. */
export const orNull = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.pipe(
    v.optional(schema, () => undefined),
    v.transform((value) => value ?? null),
  )

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name
export type CamelCased<Table> = { [Name in keyof Table as CamelCase<Name>]: Table[Name] }

/** A strict table of settings, with names in snake case in the configuration and in camel case in the code. */
export function table<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.pipe(
    strictObject(entries, 'must be a table of settings'),
    v.transform((settings) => camelCased(settings)),
  )
}

/** An optional table, whose settings all have defaults. */
export function optionalTable<const Entries extends v.ObjectEntries>(entries: Entries) {
  const settings = table(entries)
  return v.optional(settings, {} as v.InferInput<typeof settings>)
}

function camelCased<Table extends object>(settings: Table): CamelCased<Table> {
  const entries = Object.entries(settings).map(([name, value]) => [inCamelCase(name), value])
  return Object.fromEntries(entries) as CamelCased<Table>
}

function inCamelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
