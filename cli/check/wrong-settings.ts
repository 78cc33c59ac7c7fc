import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { similarName } from '../../src/config/bound-resources.ts'
import { PRUNING_CRON, ROLL_UP_CRON, readConfig, SETTING_NAMES } from '../../src/config/config.ts'
import { OPTIONS } from '../../src/config/read-settings.ts'
import type { FieldError } from '../../src/schemas.ts'
import { readToml, type TomlFile, TomlSyntaxError } from './toml-lines.ts'
import { type BoundResources, type Mistake, wrongBindings } from './wrong-bindings.ts'

/** Secrets are not in the file, so right ones take their place. */
export const SECRETS = { DATABASE_URL: 'https://user:password@host.example', API_TOKEN: 'a-token-of-the-owner' }

/** What wrangler.toml names, as far as settings depend on it. */
interface Deployment extends BoundResources {
  triggers?: { crons?: string[] }
  env?: Record<string, Deployment>
}

export class NoSuchFile extends Error {}

/**
 * Reads a wrangler.toml as the Worker would. Secrets and options in code are not checked.
 * @param isMounted whether the Worker has more than the counter: other variables and cron triggers are not mistakes
 * @returns a line for each mistake: file, line, setting, fix
 * @throws {NoSuchFile}
 */
export function wrongSettings(file: string, isMounted = false): string[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new NoSuchFile(`${file} does not exist. Name another file; wrangler.json and wrangler.jsonc are not read.`)
  }
  const shown = relative(process.cwd(), resolve(file))
  try {
    const toml = readToml(text)
    return mistakesIn(file, toml, isMounted).map(({ path, said }) => `${shown}:${toml.lineOf(path)}: ${said}`)
  } catch (error) {
    if (!(error instanceof TomlSyntaxError)) throw error
    return [`${shown}:${error.line}: this is not TOML: ${error.message}`]
  }
}

function mistakesIn(file: string, { value }: TomlFile, isMounted: boolean): Mistake[] {
  const whole = value as Deployment
  const names = unknownNames(file, value).map((path) => {
    return { path, said: `${path.join('.')} is not known to wrangler. A name belongs to the [table] above it.` }
  })
  const inherited = { triggers: whole.triggers, assets: whole.assets }
  const inEnvironments = Object.entries(whole.env ?? {}).flatMap(([name, environment]) =>
    inDeployment(file, { ...inherited, ...environment } as Deployment, ['env', name], isMounted),
  )
  return [...names, ...inDeployment(file, whole, [], isMounted), ...inEnvironments]
}

function inDeployment(file: string, deployment: Deployment, at: readonly string[], isMounted: boolean): Mistake[] {
  const { vars = {}, queues: { producers = [] } = {}, ratelimits = [], triggers } = deployment
  const unbound = () => {
    throw new Error('This only takes the place of a binding.')
  }
  const bindings = {
    ...SECRETS,
    // The types of a mounted counter are options in code.
    ...(isMounted && { SITES: '', [OPTIONS]: { bindings: {}, settings: [] } }),
    ...Object.fromEntries(producers.map(({ binding }) => [binding, { send: unbound, sendBatch: unbound }])),
    ...Object.fromEntries(ratelimits.map(({ name }) => [name, { limit: unbound }])),
    ...vars,
  }
  const limitNames = ratelimits.map(({ name }) => name)
  const queueNames = producers.map(({ binding }) => binding)
  const inFile = ({ field, message }: FieldError) => {
    const limit = limitNames.indexOf(field)
    const queue = queueNames.indexOf(field === 'BATCHES' ? 'DEAD_BATCHES' : field)
    if (Object.hasOwn(vars, field) || (limit === -1 && queue === -1)) return inVars({ field, message })
    const path =
      limit === -1 ? ['queues', 'producers', String(queue), 'binding'] : ['ratelimits', String(limit), 'name']
    return { path: [...at, ...path], said: `${field} ${message}` }
  }
  const inVars = ({ field, message }: FieldError) => {
    return { path: [...at, 'vars', ...field.split('.')], said: `${field} ${message}` }
  }
  const others = Object.keys(vars).filter((name) => !SETTING_NAMES.includes(name))
  const unknown = isMounted ? [] : others.map((field) => inVars({ field, message: `is unknown${hint(field)}` }))
  const bound = wrongBindings(file, deployment, isMounted).map(({ path, said }) => ({ path: [...at, ...path], said }))
  const missing = [ROLL_UP_CRON, PRUNING_CRON].filter((cron) => !(triggers?.crons ?? []).includes(cron))
  const withoutTrigger = isMounted
    ? []
    : missing.map((cron) => ({
        path: [...at, 'triggers', 'crons'],
        said: `triggers.crons lacks "${cron}", so that task would never run`,
      }))
  return [...readConfig(bindings).mistakes.map(inFile), ...unknown, ...withoutTrigger, ...bound]
}

function hint(field: string): string {
  const meant = similarName(field, SETTING_NAMES)
  return meant === undefined ? '' : `: did you mean ${meant}?`
}

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
function unknownNames(file: string, settings: unknown): string[][] {
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
