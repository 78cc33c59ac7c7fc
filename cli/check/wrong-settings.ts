import { existsSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { PRUNING_CRON, ROLL_UP_CRON, readConfig, SETTING_NAMES } from '../../src/config/config.ts'
import type { Bindings } from '../../src/config/read-settings.ts'
import { unknownAmong } from '../../src/config/similar-name.ts'
import type { FieldError } from '../../src/schemas.ts'
import { readToml, type TomlFile, TomlSyntaxError } from './toml-lines.ts'
import { type Mistake, schemaMistakes } from './wrangler-schema.ts'
import { type BoundResources, wrongBindings } from './wrong-bindings.ts'

/** Secrets are not in the file, so right ones take their place. */
export const SECRETS = { DATABASE_URL: 'https://user:password@host.example', API_TOKEN: 'a-token-of-the-owner' }

/** What wrangler.toml names, as far as settings depend on it. */
interface Deployment extends BoundResources {
  triggers?: { crons?: string[] }
  env?: Record<string, Deployment>
}

/**
 * Reads a wrangler.toml as the Worker would. Secrets and options in code are not checked.
 * @param isMounted whether the Worker has more than the counter: other variables and cron triggers are not mistakes
 * @returns a line for each mistake: file, line, setting, fix
 * @throws {Error} if there is no such file, or no wrangler
 */
export function wrongSettings(file: string, isMounted = false): string[] {
  if (!existsSync(file)) {
    throw new Error(`${file} does not exist. Name another file; wrangler.json and wrangler.jsonc are not read.`)
  }
  const shown = relative(process.cwd(), resolve(file))
  try {
    const toml = readToml(readFileSync(file, 'utf8'))
    return mistakesIn(file, toml, isMounted).map(({ path, said }) => `${shown}:${toml.lineOf(path)}: ${said}`)
  } catch (error) {
    if (!(error instanceof TomlSyntaxError)) throw error
    return [`${shown}:${error.line}: ${error.message}`]
  }
}

function mistakesIn(file: string, { value }: TomlFile, isMounted: boolean): Mistake[] {
  const found = schemaMistakes(value)
  // What has another form cannot be read further.
  if (found.some(({ isIgnored }) => isIgnored !== true)) return found
  const whole = value as Deployment
  const inherited = { ...whole, vars: {}, queues: {}, ratelimits: [] }
  const inEnvironments = Object.entries(whole.env ?? {}).flatMap(([name, environment]) =>
    inDeployment(file, { ...inherited, ...environment }, ['env', name], isMounted),
  )
  return [...found, ...inDeployment(file, whole, [], isMounted), ...inEnvironments]
}

function inDeployment(file: string, deployment: Deployment, at: readonly string[], isMounted: boolean): Mistake[] {
  const { vars = {}, triggers } = deployment
  // The types of a mounted counter are options in code.
  const bindings = { ...SECRETS, ...(isMounted && { SITES: '' }), ...vars }
  const inVars = ({ field, message }: FieldError) => {
    return { path: [...at, 'vars', ...field.split('.')], said: `${field} ${message}` }
  }
  const others = Object.keys(vars).filter((name) => !SETTING_NAMES.includes(name))
  const unknown = isMounted ? [] : others.map((field) => inVars({ field, message: unknownAmong(SETTING_NAMES, field) }))
  const bound = wrongBindings(file, deployment, isMounted).map(({ path, said }) => ({ path: [...at, ...path], said }))
  const missing = [ROLL_UP_CRON, PRUNING_CRON].filter((cron) => !(triggers?.crons ?? []).includes(cron))
  const withoutTrigger = isMounted
    ? []
    : missing.map((cron) => ({
        path: [...at, 'triggers', 'crons'],
        said: `triggers.crons lacks "${cron}", so that task would never run`,
      }))
  return [...readConfig(bindings as unknown as Bindings).mistakes.map(inVars), ...unknown, ...withoutTrigger, ...bound]
}
