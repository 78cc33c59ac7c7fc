import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { wranglerProgram } from '../wrangler-program.ts'

/** What is wrong, and where. */
export interface Mistake {
  path: readonly string[]
  said: string
  /** Whether wrangler only ignores it: a name that it does not know. */
  isIgnored?: true
}

/** The parts of JSON Schema that wrangler's own schema of its file has. */
interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  required?: string[]
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  definitions?: Record<string, Schema>
}

/**
 * Names what breaks wrangler's own schema: values that it refuses, and names that it does not know.
 * @param settings those of a wrangler.toml
 */
export function schemaMistakes(settings: unknown): Mistake[] {
  const root = JSON.parse(readFileSync(join(wranglerProgram(), '../../config-schema.json'), 'utf8')) as Schema
  const found = mistakesOf(settings, { $ref: '#/definitions/RawConfig' }, root, [])
  return found.map((mistake) => ({ ...mistake, said: `${mistake.path.join('.')} ${mistake.said}` }))
}

function mistakesOf(value: unknown, schema: Schema, root: Schema, path: readonly string[]): Mistake[] {
  const forms = alternatives(schema, root)
  const kind = Array.isArray(value) ? 'array' : typeof value
  const fitting = forms.filter(({ type = kind }) => [type].flat().includes(kind))
  if (fitting.length === 0) {
    return [{ path, said: `must be of type ${[...new Set(forms.flatMap(({ type }) => type))].join(' or ')}` }]
  }
  // Of several forms, the one that comes closest. ajv would name the mistakes in all of them: eight for a name in a route.
  return fitting.map((form) => mistakesIn(value, form, root, path)).sort((a, b) => a.length - b.length)[0]!
}

function mistakesIn(value: unknown, form: Schema, root: Schema, path: readonly string[]): Mistake[] {
  const { properties = {}, required = [], additionalProperties: others = true, items = {} } = form
  const allowed = 'const' in form ? [form.const] : form.enum
  if (allowed?.includes(value) === false) {
    return [{ path, said: `must be ${allowed.map((one) => JSON.stringify(one)).join(' or ')}` }]
  }
  if (typeof value !== 'object' || value === null) return []
  const missing = required.filter((name) => !Object.hasOwn(value, name))
  const inside = Object.entries(value).flatMap(([name, member]): Mistake[] => {
    const at = [...path, name]
    const known = Array.isArray(value) ? items : Object.hasOwn(properties, name) ? properties[name]! : others
    if (typeof known === 'object') return mistakesOf(member, known, root, at)
    const said = 'is not known to wrangler. A name belongs to the [table] above it.'
    return known ? [] : [{ path: at, said, isIgnored: true }]
  })
  return [...missing.map((name) => ({ path, said: `lacks ${name}` })), ...inside]
}

function alternatives(schema: Schema, root: Schema): Schema[] {
  const { $ref, anyOf } = schema
  if ($ref !== undefined) {
    return alternatives(root.definitions![decodeURIComponent($ref.replace('#/definitions/', ''))]!, root)
  }
  return anyOf?.flatMap((one) => alternatives(one, root)) ?? [schema]
}
