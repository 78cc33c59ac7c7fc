import { type Bindings, OPTIONS } from './bindings.ts'
import type { Settings } from './config.ts'

/** The settings of docs/configuration.md. Each replaces the whole setting of that name in wrangler.toml. */
export type CounterOptions = Partial<Settings> & {
  /** The names that bindings and secrets have in `env`, where they differ: `{ DATABASE_URL: 'COUNTER_DATABASE_URL' }`. */
  bindings?: { [Name in keyof Settings | 'ASSETS']?: string }
}

/** The bindings in `env`, with options in place of its settings. `readConfig` checks them. */
export function bindingsOf({ bindings = {}, ...settings }: CounterOptions, env: object): Bindings {
  const renamed = Object.entries(bindings).map(([name, inEnv]) => [name, (env as Record<string, unknown>)[inEnv]])
  const options = { bindings, settings: Object.keys(settings) }
  return { ...env, ...Object.fromEntries(renamed), ...settings, [OPTIONS]: options }
}
