import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Unstable_RawConfig } from 'wrangler'
import { BASE_PATH_FORM } from '../../src/config/read-settings.ts'
import { commandName, IN_PACKAGE } from '../command-name.ts'
import type { Mistake } from './wrangler-schema.ts'

/** The paths that the Worker answers. All others are files. */
export const OWN_PATHS = ['/hit', '/hit.gif', '/hit/*', '/d/*', '/badge/*', '/chart/*', '/v1/*', '/docs']
const LIMITS = ['VISITOR_LIMIT', 'READER_LIMIT', 'NEW_KEY_LIMIT']
const QUEUES = ['BATCHES', 'DEAD_BATCHES']
const SHIPPED = IN_PACKAGE ? 'node_modules/slotted-counter/dist/public' : 'dist/public'
const SECRET_NAMES = ['DATABASE_URL', 'API_TOKEN', 'API_TOKENS']

/**
 * Names what would stop counting, although every setting is right.
 *
 * @param file the wrangler.toml, beside which the folder of the files is
 * @param isMounted whether the Worker has bindings and files of its own
 */
export function wrongBindings(file: string, resources: Unstable_RawConfig, isMounted: boolean): Mistake[] {
  const { vars = {}, queues: { producers = [], consumers = [] } = {}, ratelimits = [] } = resources
  const found: Mistake[] = []
  const wrong = (path: (string | number)[], said: string) => {
    found.push({ path: path.map(String), said: `${path.join('.')} ${said}` })
  }
  for (const name of SECRET_NAMES.filter((name) => Object.hasOwn(vars, name))) {
    wrong(['vars', name], `is a secret: remove it here, and run \`npx wrangler secret put ${name}\``)
  }
  for (const name of ['name', 'main', 'compatibility_date'] as const) {
    if (resources[name] === undefined) wrong([name], 'is missing')
  }
  const { main = '', build, observability: { enabled = false, logs = {} } = {} } = resources
  if (build?.command === undefined && !existsSync(resolve(dirname(file), main)))
    wrong(['main'], 'names a file that does not exist')
  if (!isMounted) {
    if ((logs.enabled ?? enabled) && logs.invocation_logs !== false) {
      wrong(['observability', 'logs', 'invocation_logs'], 'must be false: these logs keep every visitor’s address')
    }
    const types = Object.values(Object(vars.COUNTERS) as object)
    if (vars.SITES === undefined && types.length > 0 && !types.some((type) => Object(type).allowed_origins)) {
      wrong(['vars'], 'lacks SITES, so no page may count: name your sites, or write SITES = "" for none')
    }
    const { assets } = resources
    const base = String(vars.BASE_PATH ?? '')
    if (assets !== undefined) wrongAssets(file, BASE_PATH_FORM.test(base) ? base : '', assets, wrong)
    else wrong(['assets'], `is missing: directory = "${SHIPPED}", binding = "ASSETS", run_worker_first`)
    for (const [i, { binding }] of producers.entries()) {
      if (!QUEUES.includes(binding)) wrong(['queues', 'producers', i, 'binding'], oneOf(QUEUES))
    }
    for (const [i, { name }] of ratelimits.entries()) {
      if (!LIMITS.includes(name)) wrong(['ratelimits', i, 'name'], oneOf(LIMITS))
    }
  }

  const bound = [
    ...ratelimits.map(({ name }, i) => ({ name, path: ['ratelimits', i, 'name'] })),
    ...producers.map(({ binding: name }, i) => ({ name, path: ['queues', 'producers', i, 'binding'] })),
  ]
  for (const [i, { name, path }] of bound.entries()) {
    if (bound.findIndex((other) => other.name === name) < i) wrong(path, 'is already bound: bind each name once')
  }
  for (const [i, { name, namespace_id, simple }] of ratelimits.entries()) {
    if (simple.limit < 1) wrong(['ratelimits', i, 'simple', 'limit'], 'must be at least 1: otherwise nobody is counted')
    const twin = ratelimits.slice(0, i).find((other) => other.namespace_id === namespace_id && other.name !== name)
    const shared = `is also that of ${twin?.name}, and they would share one limit: choose another`
    if (twin !== undefined) wrong(['ratelimits', i, 'namespace_id'], shared)
  }

  const placeOf = (name: string) => producers.findIndex(({ binding }) => binding === name)
  const atQueue = (name: string) => ['queues', 'producers', placeOf(name), 'queue']
  const [batches, dead] = QUEUES.map((name) => producers[placeOf(name)]?.queue)
  const place = consumers.findIndex(({ queue }) => queue === batches)
  const stranger = isMounted ? -1 : consumers.findIndex(({ queue }) => queue !== dead)
  if (batches === undefined) {
    if (dead !== undefined && (isMounted || producers.length === 1))
      wrong(atQueue('DEAD_BATCHES'), 'needs a queue for BATCHES beside it')
  } else if (batches === dead) {
    wrong(atQueue('DEAD_BATCHES'), 'is also that of BATCHES: name another one')
  } else if (place === -1 && stranger !== -1) {
    wrong(['queues', 'consumers', stranger, 'queue'], `must be the queue of BATCHES, "${batches}"`)
  } else if (place === -1) {
    wrong(atQueue('BATCHES'), 'has no [[queues.consumers]], so queued hits would never be counted')
  } else if (consumers[place]!.dead_letter_queue !== dead) {
    const said = `must be the queue of DEAD_BATCHES, ${dead === undefined ? 'which is missing' : `"${dead}"`}`
    wrong(['queues', 'consumers', place, 'dead_letter_queue'], said)
  }
  return found
}

const oneOf = (names: readonly string[]) => `must be one of ${names.join(', ')}`

function wrongAssets(
  file: string,
  base: string,
  { directory = '', binding, run_worker_first: first = [] }: NonNullable<Unstable_RawConfig['assets']>,
  wrong: (path: string[], said: string) => void,
): void {
  if (binding !== 'ASSETS') wrong(['assets', 'binding'], 'must be "ASSETS"')
  if (!existsSync(resolve(dirname(file), directory, `./${base}`, 'slotted.js'))) {
    const fix =
      base === ''
        ? `it must be "${SHIPPED}", which npm install makes`
        : `run ${commandName('assets')} FOLDER --base-path ${base}`
    wrong(['assets', 'directory'], `has no ${base}/slotted.js: ${fix}`)
  }
  const all = first === true || [first].flat().includes('/*')
  const missing = all ? [] : OWN_PATHS.filter((path) => ![first].flat().includes(base + path))
  if (missing.length > 0) {
    const paths = missing.map((path) => `"${base}${path}"`).join(', ')
    wrong(['assets', 'run_worker_first'], `lacks ${paths}, so the Worker would not answer there`)
  }
}
