import type { FieldError } from '../field-errors.ts'
import type { Bindings } from './bindings.ts'
import type { Settings } from './config.ts'
import { type CamelCased, inCamelCase, WRITTEN } from './fields.ts'

/** The settings of wrangler.toml by option. */
const SETTINGS = {
  basePath: 'BASE_PATH',
  types: 'COUNTERS',
  plan: 'PLAN',
  rollUp: 'ROLLUP',
  pruning: 'PRUNING',
  history: 'HISTORY',
  sharding: 'SHARDING',
  exclude: 'EXCLUDE',
  crons: 'CRONS',
} as const

/** Bindings and secrets by their name in `options.bindings`. */
const BINDINGS = {
  databaseUrl: 'DATABASE_URL',
  apiToken: 'API_TOKEN',
  apiTokens: 'API_TOKENS',
  batches: 'BATCHES',
  deadBatches: 'DEAD_BATCHES',
  visitorLimit: 'VISITOR_LIMIT',
  readerLimit: 'READER_LIMIT',
  newKeyLimit: 'NEW_KEY_LIMIT',
  assets: 'ASSETS',
} as const

type Setting<Name extends keyof typeof SETTINGS> = NonNullable<Settings[(typeof SETTINGS)[Name]]>

/**
 * The settings of docs/configuration.md in camel case: `ROLLUP.max_seconds` is `rollUp.maxSeconds`, and `COUNTERS` is `types`. An
 * option replaces the whole setting in wrangler.toml.
 */
export type CounterOptions = {
  [Name in Exclude<keyof typeof SETTINGS, 'types'>]?: Setting<Name> extends object
    ? CamelCased<Setting<Name>>
    : Setting<Name>
} & {
  /** The types of counters, by name. */
  types?: Record<string, CamelCased<Setting<'types'>[string]>>
  /** The names that bindings and secrets have in `env`, where they differ: `{ databaseUrl: 'COUNTER_DATABASE_URL' }`. */
  bindings?: { [Name in keyof typeof BINDINGS]?: string }
}

/** The bindings in `env`, with options in place of its settings. `readConfig` checks them. */
export function bindingsOf(options: CounterOptions, env: object): Bindings {
  const { bindings: names = {}, ...given } = options
  const problems: FieldError[] = []
  /** The names in the options or in `env`, by their name in wrangler.toml. */
  const written = new Map<string, string>()
  const bindings: Record<string, unknown> = { ...env }
  for (const [name, inEnv] of Object.entries(names)) {
    const binding = (BINDINGS as Record<string, string | undefined>)[name]
    if (binding === undefined) {
      problems.push(unknown(`bindings.${name}`))
      continue
    }
    bindings[binding] = (env as Record<string, unknown>)[inEnv]
    written.set(binding, inEnv)
  }
  for (const [option, value] of Object.entries(given)) {
    if (value === undefined) continue
    const setting = (SETTINGS as Record<string, string | undefined>)[option]
    if (setting === undefined) {
      problems.push(unknown(option))
      continue
    }
    const table = (settings: unknown, path: string) => inSnakeCase(settings, path, problems)
    bindings[setting] =
      option === 'types' && isTable(value)
        ? Object.fromEntries(Object.entries(value).map(([type, of]) => [type, table(of, `types.${type}`)]))
        : table(value, option)
    written.set(setting, option)
  }
  const nameOf = (name: string): string => {
    const [setting = '', ...path] = name.split('.')
    const known = written.get(setting)
    if (known === undefined) return name
    if (!(known in SETTINGS)) return [known, ...path].join('.')
    // Type names are kept.
    const own = setting === 'COUNTERS' ? path.splice(0, 1) : []
    return [known, ...own, ...path.map(inCamelCase)].join('.')
  }
  return { ...bindings, [WRITTEN]: { nameOf, problems } }
}

function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Renames the settings of a table. Names in snake case are refused, so that every option has exactly one name. */
function inSnakeCase(settings: unknown, path: string, problems: FieldError[]): unknown {
  if (!isTable(settings)) return settings
  const renamed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(settings)) {
    if (name.includes('_')) problems.push(unknown(`${path}.${name}`))
    else renamed[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value
  }
  return renamed
}

function unknown(field: string): FieldError {
  return { field, message: 'is not known here' }
}
