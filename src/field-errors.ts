import type * as z from 'zod/mini'

/** Names that are probably misspelt ones. Messages do not repeat anything else that a client sent. */
const NAME = /^[\w-]{1,40}$/

/** An error in an input or a setting, under the name that its author knows. */
export interface FieldError {
  field: string
  message: string
}

/**
 * Lists the errors that a schema found, by field, in the order of the input.
 * @param error the schema's report
 * @param root the name of the whole input, for errors that belong to no field of it
 */
export function fieldErrors(error: z.core.$ZodError, root: string): FieldError[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.map(String)
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) =>
        NAME.test(key)
          ? { field: [...path, key].join('.'), message: 'is not known here' }
          : { field: path.join('.') || root, message: 'has a name that is not known here' },
      )
    }
    return [{ field: path.join('.') || root, message: issue.message }]
  })
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
