import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commandName } from '../command-name.ts'

/** What is wrong, and where. */
export interface Mistake {
  path: readonly string[]
  said: string
}

/** The paths that the Worker answers. All others are files. */
export const OWN_PATHS = ['/hit', '/hit.gif', '/hit/*', '/d/*', '/badge/*', '/chart/*', '/v1/*', '/docs']
const LIMITS = ['VISITOR_LIMIT', 'READER_LIMIT', 'NEW_KEY_LIMIT']
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
  }

  for (const [i, { name, namespace_id, simple: { limit = 1, period = 60 } = {} }] of ratelimits.entries()) {
    const at = ['ratelimits', i]
    if (!isMounted && !LIMITS.includes(name)) wrong([...at, 'name'], `must be one of ${LIMITS.join(', ')}`)
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

function wrongAssets(
  folder: string,
  base: string,
  assets: BoundResources['assets'],
  wrong: (path: string[], said: string) => void,
): void {
  if (assets === undefined) {
    wrong(['assets'], 'is missing, so the script and the dashboard have no files')
    return
  }
  const { binding, run_worker_first: first = [] } = assets
  if (binding !== 'ASSETS') wrong(['assets', 'binding'], 'must be "ASSETS"')
  if (!existsSync(join(folder, base, 'slotted.js'))) {
    const fix = base === '' ? 'run npm install' : `run ${commandName('assets')} FOLDER --base-path ${base}`
    wrong(['assets', 'directory'], `has no ${base}/slotted.js: ${fix}`)
  }
  const all = first === true || [first].flat().includes('/*')
  const missing = all ? [] : OWN_PATHS.filter((path) => ![first].flat().includes(base + path))
  if (missing.length > 0) {
    const paths = missing.map((path) => `"${base}${path}"`).join(', ')
    wrong(['assets', 'run_worker_first'], `lacks ${paths}, so the Worker would not answer there`)
  }
}

/** The one of some names that a misspelt one probably is: they differ by case, or by one or two neighboring letters. */
export function similarName(misspelt: string, names: readonly string[]): string | undefined {
  const forms = (name: string) => {
    const text = name.toUpperCase().replaceAll(/[^A-Z]/g, '')
    return [text, ...Array.from(text, (_, i) => text.slice(0, i) + text.slice(i + 1))]
  }
  const own = new Set(forms(misspelt))
  return names.find((name) => forms(name).some((form) => own.has(form)))
}
