import * as v from 'valibot'

/** A schema's description, or other members of the OpenAPI document. */
export type Description = string | Record<string, unknown>

/** A copy of a schema with a description. */
export function described<Schema extends v.GenericSchema>(schema: Schema, as: Description): Schema {
  return v.pipe(schema, v.metadata(typeof as === 'string' ? { description: as } : as)) as never
}

/** An object in a response with a name in the OpenAPI document. */
export function namedObject<const Entries extends v.ObjectEntries>(id: string, entries: Entries) {
  return described(v.strictObject(entries), { id })
}

export const TYPE_DESCRIPTION = 'The name of a counter type, as configured in `[vars.COUNTERS.…]`.'

/** A count in a response, with all its digits even beyond 2^53. */
export const count = /* @__PURE__ */ described(v.number(), { type: 'integer', format: 'int64' })

/** A point in time in a response. */
export const instant = /* @__PURE__ */ v.pipe(v.string(), v.isoTimestamp())

/** A whole number in a response. */
export const whole = /* @__PURE__ */ v.pipe(v.number(), v.safeInteger())
