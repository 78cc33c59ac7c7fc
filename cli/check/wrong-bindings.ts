import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { similarName } from '../../src/config/bound-resources.ts'
import { commandName, IN_PACKAGE } from '../command-name.ts'

/** What is wrong, and where. */
export interface Mistake {
  path: readonly string[]
  said: string
}

/** The paths that the Worker answers. All others are files. */
export const OWN_PATHS = ['/hit', '/hit.gif', '/hit/*', '/d/*', '/badge/*', '/chart/*', '/v1/*', '/docs']
const LIMITS = ['VISITOR_LIMIT', 'READER_LIMIT', 'NEW_KEY_LIMIT']
const QUEUES = ['BATCHES', 'DEAD_BATCHES']
const SHIPPED = IN_PACKAGE ? 'node_modules/slotted-counter/dist/public' : 'dist/public'
/** Source: https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit/ */
const PERIODS = [10, 60]
const SECRET_NAMES = ['DATABASE_URL', 'API_TOKEN', 'API_TOKENS']

/** What a wrangler.toml binds, as far as counting depends on it. */
export interface BoundResources {
  vars?: Record<string, unknown>
  assets?: { directory?: string; binding?: string; run_worker_first?: boolean | string[] }
  queues?: {
    producers?: { binding: string; queue?: string }[]
    consumers?: { queue?: string; dead_letter_queue?: string }[]
  }
  ratelimits?: { name: string; namespace_id?: string; simple?: { limit?: number; period?: number } }[]
}

/**
 * Names what would stop counting, although every setting is right.
 *
 * @param file the wrangler.toml, beside which the folder of the files is
 * @param isMounted whether the Worker has bindings and files of its own
 */
export function wrongBindings(file: string, resources: BoundResources, isMounted: boolean): Mistake[] {
  const { vars = {}, queues: { producers = [], consumers = [] } = {}, ratelimits = [] } = resources
  const found: Mistake[] = []
  const wrong = (path: (string | number)[], said: string) => {
    found.push({ path: path.map(String), said: `${path.join('.')} ${said}` })
  }
  for (const name of SECRET_NAMES.filter((name) => Object.hasOwn(vars, name))) {
    wrong(['vars', name], `is a secret: remove it here, and run \`npx wrangler secret put ${name}\``)
  }
  if (!isMounted) {
    const base = typeof vars.BASE_PATH === 'string' ? vars.BASE_PATH : ''
    wrongAssets(join(dirname(file), resources.assets?.directory ?? ''), base, resources.assets, wrong)
    const queues = producers.map(({ binding }) => binding)
    for (const i of strangers(queues, QUEUES)) wrong(['queues', 'producers', i, 'binding'], oneOf(QUEUES))
    const limits = ratelimits.map(({ name }) => name)
    for (const i of strangers(limits, LIMITS)) wrong(['ratelimits', i, 'name'], oneOf(LIMITS))
  }

  for (const [i, { namespace_id, simple: { limit = 1, period = 60 } = {} }] of ratelimits.entries()) {
    const at = ['ratelimits', i]
    if (!PERIODS.includes(period)) wrong([...at, 'simple', 'period'], `must be ${PERIODS.join(' or ')}`)
    if (!(limit >= 1)) wrong([...at, 'simple', 'limit'], 'must be at least 1: otherwise nobody is counted')
    const twin = ratelimits.slice(0, i).find((other) => other.namespace_id === namespace_id)
    if (twin !== undefined) wrong([...at, 'namespace_id'], `is also used by ${twin.name}: they would share one limit`)
  }

  const placeOf = (name: string) => producers.findIndex(({ binding }) => binding === name)
  const [batches, dead] = ['BATCHES', 'DEAD_BATCHES'].map((name) => producers[placeOf(name)]?.queue)
  const place = consumers.findIndex(({ queue }) => queue === batches)
  if (batches !== undefined && place === -1) {
    const said = 'has no [[queues.consumers]], so queued hits would never be counted'
    wrong(['queues', 'producers', placeOf('BATCHES'), 'queue'], said)
  } else if (batches !== undefined && consumers[place]!.dead_letter_queue !== dead) {
    const said = `must be the queue of DEAD_BATCHES${dead === undefined ? '' : `, "${dead}"`}`
    wrong(['queues', 'consumers', place, 'dead_letter_queue'], said)
  }
  return found
}

const oneOf = (names: readonly string[]) => `must be one of ${names.join(', ')}`

/** The places of unknown names. Those that misspell a missing one are mistakes of `readConfig`. */
function strangers(names: readonly string[], known: readonly string[]): number[] {
  const missing = known.filter((name) => !names.includes(name))
  return [...names.keys()].filter((i) => !known.includes(names[i]!) && !similarName(names[i]!, missing))
}

function wrongAssets(
  folder: string,
  base: string,
  assets: BoundResources['assets'],
  wrong: (path: string[], said: string) => void,
): void {
  if (assets === undefined) {
    wrong(
      ['assets'],
      `is missing, so there are no files: directory = "${SHIPPED}", binding = "ASSETS", run_worker_first`,
    )
    return
  }
  const { binding, run_worker_first: first = [] } = assets
  if (binding !== 'ASSETS') wrong(['assets', 'binding'], 'must be "ASSETS"')
  if (!existsSync(join(folder, base, 'slotted.js'))) {
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
