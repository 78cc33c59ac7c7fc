import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'

/** The parts of JSON Schema that wrangler's own schema of its file has, as far as they say which names exist. */
interface Schema {
  $ref?: string
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  allOf?: Schema[]
  definitions?: Record<string, Schema>
}

/**
 * Names that wrangler does not know, and would ignore: typing errors, and settings below the wrong table.
 * @param file the path of wrangler.toml, next to which wrangler is installed; without it, none are found
 */
export function unknownNames(file: string, settings: unknown): string[][] {
  const schema = wranglersSchema(file)
  return schema === null ? [] : unknownIn(settings, [{ $ref: '#/definitions/RawConfig' }], schema, [])
}

function wranglersSchema(file: string): Schema | null {
  try {
    const folder = dirname(createRequire(resolve(file)).resolve('wrangler/package.json'))
    return JSON.parse(readFileSync(join(folder, 'config-schema.json'), 'utf8')) as Schema
  } catch {
    return null
  }
}

/** @param any the schemas of which one must fit */
function unknownIn(value: unknown, any: readonly Schema[], root: Schema, path: readonly string[]): string[][] {
  const schemas = any.flatMap((schema) => alternatives(schema, root))
  if (Array.isArray(value)) {
    const items = schemas.flatMap(({ items }) => items ?? [])
    return items.length === 0 ? [] : value.flatMap((item, i) => unknownIn(item, items, root, [...path, String(i)]))
  }
  const tables = schemas.filter(({ properties, additionalProperties }) => properties ?? additionalProperties)
  if (typeof value !== 'object' || value === null || tables.length === 0) return []
  const isOpen = tables.some(({ additionalProperties = true }) => additionalProperties !== false)
  return Object.entries(value).flatMap(([name, member]) => {
    const known = tables.flatMap(({ properties = {} }) => (Object.hasOwn(properties, name) ? properties[name]! : []))
    if (known.length > 0) return unknownIn(member, known, root, [...path, name])
    return isOpen ? [] : [[...path, name]]
  })
}

function alternatives(schema: Schema, root: Schema): Schema[] {
  if (schema.$ref !== undefined) {
    return alternatives(root.definitions![decodeURIComponent(schema.$ref.replace('#/definitions/', ''))]!, root)
  }
  const several = [...(schema.anyOf ?? []), ...(schema.allOf ?? [])]
  return several.length > 0 ? several.flatMap((one) => alternatives(one, root)) : [schema]
}
