// `slotted-counter deploy`: leads from wrangler.toml to the first hit, and later to a new version.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { program } from 'commander'
import { readConfig } from '../../src/config/config.ts'
import type { Bindings } from '../../src/config/read-settings.ts'
import { visibleKey } from '../../src/visible-key.ts'
import { declaredTypes } from '../check/declared-types.ts'
import { readToml } from '../check/toml-lines.ts'
import { SECRETS, wrongSettings } from '../check/wrong-settings.ts'
import { commandName } from '../command-name.ts'
import { interruption } from '../interruption.ts'
import { describeError, RefusedError } from '../retried.ts'
import { WorkerClient } from '../worker-client.ts'
import { deployWorker, putSecret, secretNames } from './cloudflare-account.ts'

const SETTINGS = 'wrangler.toml'
/** Milliseconds in which a new address is found, and new secrets reach the Worker. */
const PATIENCE_MS = 180_000
const POLL_MS = 2_000
/** Problems that the crons of the new version solve. */
const PASSING = ['rollup_missing', 'rollup_failed']

program
  .name(commandName('deploy'))
  .description(
    'Checks wrangler.toml, deploys the Worker, stores missing secrets, makes or migrates the tables, and waits ' +
      'for the first hit. Safe to repeat.',
  )
  .addHelpText(
    'after',
    `
Environment:
  DATABASE_URL  https://USER:PASSWORD@HOST (required without a terminal)
  API_TOKEN     the token to store (default: a random one, which is shown) or, once it is stored, to migrate the tables with
  CI            if set, do not wait for the first hit`,
  )
  .parse()

const interrupted = interruption()
const pause = () => setTimeout(POLL_MS, undefined, { signal: interrupted.signal })
const { DATABASE_URL, API_TOKEN, CI } = process.env
const say = (line: string) => console.log(line)
try {
  await deploy()
} catch (error) {
  if (!interrupted.signal.aborted) program.error(describeError(error))
  console.error('Interrupted. Run it again to continue.')
  process.exitCode = 130
}

async function deploy(): Promise<void> {
  const wrong = wrongSettings(SETTINGS)
  const given = { ...(DATABASE_URL && { DATABASE_URL }), ...(API_TOKEN && { API_TOKEN }) }
  const { mistakes } = readConfig({ ...SECRETS, SITES: '', ...given } as unknown as Bindings)
  wrong.push(...mistakes.map(({ field, message }) => `${field} ${message}`))
  if (wrong.length > 0) throw new Error(`${wrong.join('\n')}\nNothing was deployed.`)
  const address = await deployWorker()
  const token = await storeSecrets()
  if (address === null) {
    throw new Error(
      'The Worker is deployed, but wrangler reports no address for all of its paths. Set workers_dev = true or a custom domain.',
    )
  }
  const { vars } = readToml(readFileSync(SETTINGS, 'utf8')).value as { vars?: { BASE_PATH?: string } }
  const url = address + (vars?.BASE_PATH ?? '')
  if (token === null) {
    await waitForHealth(url, PASSING)
    throw new Error(`${url} is up, but its tables were not migrated: set API_TOKEN and retry, or use its dashboard.`)
  }
  await waitForHealth(url, ['database_not_ready', ...PASSING])
  const { signal } = interrupted
  const worker = new WorkerClient({ url, token, signal })
  const { applied } = JSON.parse(await setUp(worker)) as { applied: string[] }
  say(applied.length === 0 ? 'The tables are up to date.' : `Applied the migrations ${applied.join(', ')}.`)
  say(`
The dashboard is ${url}/ (sign in with API_TOKEN). Paste this into your pages, before </body>:

  <script defer src="${url}/slotted.js"></script>
`)
  await waitForFirstHit(worker, url).catch((error: unknown) => {
    if (!interrupted.signal.aborted) throw error
  })
}

/** Makes the tables. A version without the new secrets may answer for a while. @returns the Worker's answer */
async function setUp(worker: WorkerClient): Promise<string> {
  for (const giveUpAt = Date.now() + PATIENCE_MS; ; await pause()) {
    try {
      return (await worker.post('/v1/setup')).text
    } catch (error) {
      const mayPass = error instanceof RefusedError && error.code === 'unauthorized' && Date.now() < giveUpAt
      if (!mayPass) throw error
    }
  }
}

/** Stores what the Worker lacks. @returns its API_TOKEN, if that is known here */
async function storeSecrets(): Promise<string | null> {
  const stored = await secretNames()
  if (!stored.includes('DATABASE_URL')) {
    if (!DATABASE_URL && !process.stdin.isTTY) throw new Error('DATABASE_URL is missing: https://USER:PASSWORD@HOST')
    if (!DATABASE_URL) say('DATABASE_URL is https://USER:PASSWORD@HOST, from PlanetScale:')
    await putSecret('DATABASE_URL', DATABASE_URL || undefined)
  }
  if (stored.includes('API_TOKEN')) return API_TOKEN || null
  const token = API_TOKEN || randomBytes(32).toString('hex')
  await putSecret('API_TOKEN', token)
  if (!API_TOKEN) say(`\nAPI_TOKEN (shown only once, so save it):\n\n  ${token}\n`)
  return token
}

/** @param codes of problems that will be solved @throws {Error} if the Worker stays unhealthy, with its reason */
async function waitForHealth(url: string, codes: readonly string[]): Promise<void> {
  say(`Waiting for ${url} …`)
  for (const giveUpAt = Date.now() + PATIENCE_MS; ; await pause()) {
    const problem = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(10_000) })
      .then((response) => (response.ok ? null : response.text()))
      .catch(describeError)
    if (problem === null || codes.some((code) => problem.includes(code))) return
    if (Date.now() > giveUpAt) throw new Error(`${url} is deployed, but does not work yet: ${problem}`)
  }
}

async function waitForFirstHit(worker: WorkerClient, url: string): Promise<void> {
  const [type = ''] = declaredTypes(SETTINGS) ?? []
  for (let isFirst = true; ; isFirst = false) {
    const search = `/v1/search/${type}?limit=100`
    const { counters } = await worker.get<{ counters: { key: string; count: number | bigint }[] }>(search)
    const counted = counters.find(({ count }) => count !== 0)
    if (counted !== undefined) return say(`It counts: ${visibleKey(counted.key)}`)
    if (isFirst) {
      say('Waiting for the first hit. Ctrl-C only stops waiting.')
      say(`Visit not counted? Open ${url}/check?type=${type} in the same browser.`)
    }
    if (CI) return
    await pause()
  }
}
