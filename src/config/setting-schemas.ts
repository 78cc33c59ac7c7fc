import * as z from 'zod/mini'

export function integer(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`
  return z
    .number({ error: message })
    .check(z.refine((value) => Number.isInteger(value) && value >= min && value <= max, message))
}

/** Text that must follow a rule. */
export const textThat = (rule: string, fits: (value: string) => boolean) =>
  z.string({ error: rule }).check(z.refine(fits, rule))

/** Text that `parse` turns into a value, or into nothing if it breaks the rule. */
export const parsed = <Value>(parse: (text: string) => Value | null | undefined, rule: string) =>
  z.pipe(
    z.string({ error: rule }),
    z.transform((text, context): Value => {
      const value = parse(text) ?? undefined
      if (value !== undefined) return value
      context.issues.push({ code: 'custom', message: rule, input: text })
      return z.NEVER
    }),
  )

export const flag = z._default(z.boolean({ error: 'must be true or false' }), false)

/** An optional setting; `null` if left out. */
export const orNull = <Schema extends z.ZodMiniType>(schema: Schema) =>
  z.pipe(
    z.optional(schema),
    z.transform((value) => value ?? null),
  )

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name
export type CamelCased<Table> = { [Name in keyof Table as CamelCase<Name>]: Table[Name] }

/** A strict table of settings, with names in snake case in the configuration and in camel case in the code. */
export function table<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.pipe(
    z.strictObject(shape, {
      error: ({ code }) => (code === 'invalid_type' ? 'must be a table of settings' : undefined),
    }),
    z.transform((settings) => camelCased(settings)),
  )
}

/** An optional table, whose settings all have defaults. */
export function optionalTable<Shape extends z.core.$ZodShape>(shape: Shape) {
  const settings = table(shape)
  return z.prefault(settings, {} as z.input<typeof settings>)
}

function camelCased<Table extends object>(settings: Table): CamelCased<Table> {
  const entries = Object.entries(settings).map(([name, value]) => [inCamelCase(name), value])
  return Object.fromEntries(entries) as CamelCased<Table>
}

function inCamelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
