import { html } from 'hono/html'
import type { Html } from '../../src/views/dashboard/layout.ts'
import type { JsonSchema } from '../openapi/schema-conversion.ts'
import { withCode } from './inline-code.ts'

/** Schemas by the name under which other schemas refer to them. */
export type NamedSchemas = Record<string, JsonSchema>

/** The members of a JSON value as nested lists. */
export function membersOf(schema: JsonSchema, named: NamedSchemas): Html {
  const {
    properties,
    items,
    required = [],
  } = resolved(schema, named) as {
    properties?: Record<string, JsonSchema>
    items?: JsonSchema
    required?: string[]
  }
  if (items !== undefined) return membersOf(items, named)
  if (properties === undefined) return html``
  return html`<dl>${Object.entries(properties).map(
    ([name, member]) => html`
<dt><code>${name}</code> <span class="kind">${kindOf(member, named)}${required.includes(name) ? '' : ', optional'}</span></dt>
<dd>${withCode(resolved(member, named).description)}${membersOf(member, named)}</dd>`,
  )}</dl>`
}

/** The kind of value that a schema accepts, in a few words. */
export function kindOf(schema: JsonSchema, named: NamedSchemas): string {
  const { type, anyOf, items, ...rules } = resolved(schema, named) as {
    type?: string | string[]
    anyOf?: JsonSchema[]
    items?: JsonSchema
    enum?: unknown[]
    const?: unknown
    default?: unknown
    format?: string
  }
  const usually = rules.default === undefined ? '' : `, default ${JSON.stringify(rules.default)}`
  if (anyOf !== undefined) return anyOf.map((each) => kindOf(each, named)).join(' or ') + usually
  if (rules.const !== undefined) return JSON.stringify(rules.const) + usually
  if (rules.enum !== undefined && rules.enum.length < 8)
    return rules.enum.map((each) => JSON.stringify(each)).join(' | ') + usually
  if (items !== undefined) return `list of ${kindOf(items, named)}${usually}`
  const name = Array.isArray(type) ? type.join(' or ') : (type ?? 'anything')
  return `${name}${rules.format === undefined ? '' : ` (${rules.format})`}${usually}`
}

/** Follows a schema's reference. Its own description takes precedence. */
function resolved(schema: JsonSchema, named: NamedSchemas): JsonSchema {
  const { $ref, ...own } = schema
  if (typeof $ref !== 'string') return schema
  return { ...named[$ref.slice($ref.lastIndexOf('/') + 1)], ...own }
}
