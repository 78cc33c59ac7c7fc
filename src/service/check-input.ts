import * as v from 'valibot'
import { type FieldError, fieldErrors, MESSAGES, object, parseInput, unknownName } from '../schemas.ts'
import { invalidRequest } from './problem.ts'

// Created on first use: all of them take milliseconds of an isolate's start, and most isolates use few.
const schemas = new WeakMap<() => unknown, v.GenericSchema>()

function onFirstUse<Schema extends v.GenericSchema>(by: () => unknown, make: () => Schema): Schema {
  const schema = (schemas.get(by) as Schema | undefined) ?? make()
  schemas.set(by, schema)
  return schema
}

function schemaOf<Shape extends v.ObjectEntries>(shape: () => Shape) {
  return onFirstUse(shape, () => object(shape()))
}

/** Checked parameters. @template Shape makes their schemas */
export type ParametersOf<Shape extends () => v.ObjectEntries> = v.InferOutput<
  v.ObjectSchema<ReturnType<Shape>, undefined>
>

/** The schema of a path's parameter, if there is one. @param shape always the same function for a path */
export function parameterOf(shape: () => v.ObjectEntries, name: string): v.ObjectEntries[string] | undefined {
  const { entries } = schemaOf(shape)
  return Object.hasOwn(entries, name) ? entries[name] : undefined
}

/** @throws {Problem} 422 */
export function checkParameters<Shape extends v.ObjectEntries>(
  shape: () => Shape,
  parameters: Record<string, unknown>,
  repeated: readonly FieldError[] = [],
) {
  const parsed = v.safeParse(schemaOf(shape), parameters, MESSAGES)
  // Not by the schema: valibot ignores some names, such as `constructor`.
  const unknown = Object.keys(parameters).filter((name) => parameterOf(shape, name) === undefined)
  if (parsed.success && unknown.length + repeated.length === 0) return parsed.output
  throw invalidRequest([
    ...repeated,
    ...fieldErrors(parsed.issues ?? [], 'query'),
    ...unknown.map((name) => unknownName([name], 'query', 'is not a parameter of this path')),
  ])
}

/** Checks a client's value. @param make always the same function for a path @throws {Problem} 422 */
export function check<Schema extends v.GenericSchema>(make: () => Schema, value: unknown): v.InferOutput<Schema> {
  const parsed = parseInput(onFirstUse(make, make), value)
  if (!parsed.success) throw invalidRequest(fieldErrors(parsed.issues, 'body'))
  return parsed.output
}
