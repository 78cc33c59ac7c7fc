import * as v from 'valibot'

/** An error in an input or a setting, under the name that its author knows. */
export interface FieldError {
  field: string
  message: string
}

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

/** An object, whose other members are ignored. */
export const object = <const Entries extends v.ObjectEntries>(entries: Entries) =>
  v.object(entries, messageOf(entries, 'must be an object'))

/** An object without other members. (valibot's own reports only the first of them.) */
export function strictObject<const Entries extends v.ObjectEntries>(entries: Entries, rule = 'must be an object') {
  const schema = v.objectWithRest(entries, v.never('is unknown'), messageOf(entries, rule))
  return schema as unknown as v.StrictObjectSchema<Entries, undefined>
}

/** The rule of an object, or that of a member that is missing. */
const messageOf =
  (entries: v.ObjectEntries, rule: string) =>
  ({ path }: v.BaseIssue<unknown>): string =>
    path === undefined ? rule : parseInput(entries[path[0].key as string]!, undefined).issues![0].message

/** What is said where a schema has no message. valibot's own messages repeat the input. */
export const MESSAGES: v.Config<v.BaseIssue<unknown>> = {
  message: ({ input, expected }) => (input === undefined ? 'is missing' : `must be a ${expected}`),
}

/** Parses an input that must not be a list: for valibot, a list is an object too. */
export const parseInput = <Schema extends v.GenericSchema>(schema: Schema, input: unknown) =>
  v.safeParse(schema, Array.isArray(input) ? null : input, MESSAGES)

/** The errors that a schema found, in its order. @param root the name of the whole input, for errors that belong to no field */
export function fieldErrors(issues: readonly v.BaseIssue<unknown>[], root: string): FieldError[] {
  return issues.map(({ path = [], expected, message }) => {
    const keys = path.map(({ key }) => String(key))
    return expected === 'never' ? unknownName(keys, root, message) : { field: keys.join('.') || root, message }
  })
}

/** Names that are probably misspelt ones. Messages do not repeat anything else that a client sent. */
const NAME = /^[\w-]{1,40}$/

/** The error of a name that nobody knows, at the end of a path. */
export function unknownName(path: readonly string[], root: string, message: string): FieldError {
  if (NAME.test(path.at(-1)!)) return { field: path.join('.'), message }
  return { field: path.slice(0, -1).join('.') || root, message: 'contains an unknown name' }
}

/** Thrown for input that breaks a rule. It names the field and the rule, and never repeats the input. */
export class InvalidInput extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.name = 'InvalidInput'
    this.field = field
  }
}
