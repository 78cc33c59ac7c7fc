import type * as z from 'zod'

/** Names that somebody may have misspelt. Anything else is not given back: it is not ours to repeat. */
const NAME = /^[\w-]{1,40}$/

/** One thing that is wrong with an input or a setting, by the name its author knows it by. */
export interface FieldError {
  field: string
  message: string
}

/**
 * Lists what a schema found wrong, one entry per field, in the order of the input.
 *
 * @param error what the schema reported
 * @param root the name of the whole input, for errors that belong to no field of it
 */
export function fieldErrors(error: z.ZodError, root: string): FieldError[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.map(String)
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) =>
        NAME.test(key)
          ? { field: [...path, key].join('.'), message: 'is not known here' }
          : { field: path.join('.') || root, message: 'has a name that is not known here' },
      )
    }
    if (issue.code === 'invalid_key') {
      return issue.issues.map(({ message }) => ({ field: path.join('.'), message }))
    }
    return [{ field: path.join('.') || root, message: issue.message }]
  })
}
