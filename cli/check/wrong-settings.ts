import { readFileSync, statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { Unstable_RawConfig } from 'wrangler'
import { PRUNING_CRON, ROLL_UP_CRON, readConfig, SETTING_NAMES } from '../../src/config/config.ts'
import { TYPE_SETTINGS } from '../../src/config/counter-types.ts'
import type { Bindings } from '../../src/config/read-settings.ts'
import { unknownAmong } from '../../src/config/similar-name.ts'
import type { FieldError } from '../../src/schemas.ts'
import { readToml, type TomlFile, TomlSyntaxError } from './toml-lines.ts'
import { type Mistake, schemaMistakes } from './wrangler-schema.ts'
import { wrongBindings } from './wrong-bindings.ts'

/** Secrets are not in the file, so right ones take their place. */
export const SECRETS = { DATABASE_URL: 'https://user:password@host.example', API_TOKEN: 'a-token-of-the-owner' }

/**
 * Reads a wrangler.toml as the Worker would. Secrets and options in code are not checked.
 * @param isMounted whether the Worker has more than the counter: other variables and cron triggers are not mistakes
 * @returns a line for each mistake: file, line, setting, fix
 * @throws {Error} if there is no wrangler
 */
export function wrongSettings(file: string, isMounted = false): string[] {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() !== false) {
    return [`There is no file ${file}. Name another one; wrangler.json and wrangler.jsonc are not read.`]
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
  const whole = value as Unstable_RawConfig
  const atTop = inDeployment(file, whole, isMounted)
  const inEnvironments = Object.entries(whole.env ?? {}).flatMap(([name, environment]) => {
    const own = { vars: {}, queues: {}, ratelimits: [], ...environment }
    const mistakes = inDeployment(file, { ...whole, ...own }, isMounted)
    // What is inherited is named once, unless it is wrong only beside the environment's variables.
    const isNew = ({ path, said }: Mistake) => Object.hasOwn(own, path[0]!) || !atTop.some((top) => top.said === said)
    return mistakes.filter(isNew).map(({ path, said }) => ({ path: ['env', name, ...path], said }))
  })
  return [...found, ...atTop, ...inEnvironments]
}

const unknownSetting = (name: string) =>
  Object.hasOwn(TYPE_SETTINGS, name)
    ? 'belongs below the [vars.COUNTERS.…] of a type'
    : unknownAmong(SETTING_NAMES, name)

function inDeployment(file: string, deployment: Unstable_RawConfig, isMounted: boolean): Mistake[] {
  const { vars = {}, triggers } = deployment
  // The types of a mounted counter are options in code.
  const bindings = { ...SECRETS, ...(isMounted && { SITES: '' }), ...vars }
  const inVars = ({ field, message }: FieldError) => {
    return { path: ['vars', ...field.split('.')], said: `${field} ${message}` }
  }
  const others = Object.keys(vars).filter((name) => !SETTING_NAMES.includes(name))
  const unknown = isMounted ? [] : others.map((field) => inVars({ field, message: unknownSetting(field) }))
  const bound = wrongBindings(file, deployment, isMounted)
  const crons = isMounted ? [] : [ROLL_UP_CRON, PRUNING_CRON].filter((cron) => !triggers?.crons?.includes(cron))
  const withoutTrigger = crons.map((cron) => {
    return { path: ['triggers', 'crons'], said: `triggers.crons lacks "${cron}", so that task would never run` }
  })
  return [...readConfig(bindings as unknown as Bindings).mistakes.map(inVars), ...unknown, ...withoutTrigger, ...bound]
}
