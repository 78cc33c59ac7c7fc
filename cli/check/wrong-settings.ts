import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { readConfig, settingNames } from '../../src/config/config.ts'
import type { FieldError } from '../../src/field-errors.ts'
import { readToml, type TomlFile, TomlSyntaxError } from './toml-lines.ts'
import { unknownNames } from './unknown-names.ts'

/** Secrets are not in the file, so right ones take their place. */
export const SECRETS = { DATABASE_URL: 'https://user:password@host.example', API_TOKEN: 'a-token-of-the-owner' }

/** What wrangler.toml names, as far as settings depend on it. */
interface Deployment {
  vars?: Record<string, unknown>
  queues?: { producers?: { binding: string }[] }
  ratelimits?: { name: string }[]
  triggers?: { crons?: string[] }
  env?: Record<string, Deployment>
}

/** There is no file of settings. */
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
    throw new NoSuchFile(`There is no ${file} here. Name another one; wrangler.json and wrangler.jsonc are not read.`)
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

interface Mistake {
  path: readonly string[]
  said: string
}

function mistakesIn(file: string, { value }: TomlFile, isMounted: boolean): Mistake[] {
  const whole = value as Deployment
  const names = unknownNames(file, value).map((path) => {
    return { path, said: `${path.join('.')} is not known to wrangler. A name belongs to the [table] above it.` }
  })
  const inEnvironments = Object.entries(whole.env ?? {}).flatMap(([name, environment]) =>
    inDeployment({ triggers: whole.triggers, ...environment } as Deployment, ['env', name], isMounted),
  )
  return [...names, ...inDeployment(whole, [], isMounted), ...inEnvironments]
}

function inDeployment(deployment: Deployment, at: readonly string[], isMounted: boolean): Mistake[] {
  const { vars = {}, queues, ratelimits = [], triggers } = deployment
  const unbound = () => {
    throw new Error('This only takes the place of a binding.')
  }
  const bindings = {
    ...SECRETS,
    // The types of a mounted counter are options in code.
    ...(isMounted && { SITES: '' }),
    ...Object.fromEntries(
      (queues?.producers ?? []).map(({ binding }) => [binding, { send: unbound, sendBatch: unbound }]),
    ),
    ...Object.fromEntries(ratelimits.map(({ name }) => [name, { limit: unbound }])),
    ...vars,
  }
  const { config, mistakes } = readConfig(bindings)
  const inVars = ({ field, message }: FieldError) => {
    return { path: [...at, 'vars', ...field.split('.')], said: `${field} ${message}` }
  }
  const known = settingNames()
  const others = Object.keys(vars).filter((name) => !known.includes(name))
  const unknown = isMounted ? [] : others.map((field) => inVars({ field, message: 'is not known here' }))
  const missing = Object.values(config.crons).filter((cron) => !(triggers?.crons ?? []).includes(cron))
  const withoutTrigger = isMounted
    ? []
    : missing.map((cron) => ({
        path: [...at, 'triggers', 'crons'],
        said: `triggers.crons lacks "${cron}", so that task would never run`,
      }))
  return [...mistakes.map(inVars), ...unknown, ...withoutTrigger]
}
