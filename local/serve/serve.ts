// `slotted-counter serve`, and `npm run serve` in a clone: runs the counter on this machine for good, behind a web server with TLS.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { program } from 'commander'
import type { Unstable_RawConfig } from 'wrangler'
import { readToml } from '../../cli/check/toml-lines.ts'
import { wrongSettings } from '../../cli/check/wrong-settings.ts'
import { commandName } from '../../cli/command-name.ts'
import { migrate } from '../../cli/migrate/migrations.ts'
import { VERSION } from '../../src/generated.ts'
import { type StopCron, startCron } from '../cron.ts'
import { type LocalDatabase, startLocalDatabase } from '../database/local-database.ts'
import { runService } from '../processes/service.ts'
import { lockStateDirectory } from '../state-directory-lock.ts'
import { refuseWrongSettings } from '../worker/worker-health.ts'
import { cachedBuild } from './cached-build.ts'
import { Front } from './front.ts'
import { log } from './json-log.ts'
import { MiniflareWorker } from './miniflare-worker.ts'
import { readServeSettings, SERVE_HELP, type ServeSettings } from './settings.ts'

/** Milliseconds that requests under way, and a roll-up, may take when stopping. A second signal ends the wait. */
const REQUESTS_MS = 20_000
const CRON_MS = 5_000

// Collect garbage early: otherwise this process takes twice the memory. NODE_OPTIONS refuses this flag.
setFlagsFromString('--optimize-for-size')

const command = commandName('serve')
program
  .name(command)
  .description(
    'Runs the counter of this folder for good, behind your web server with TLS. First makes the tables, or brings them up to this version.',
  )
  .addHelpText('after', SERVE_HELP)
  .parse()

const say = (message: string, level: 'info' | 'error' = 'info') => log(level, 'serve', { message })
let settings: ServeSettings
try {
  settings = readServeSettings(process.env)
  const wrong = wrongSettings('wrangler.toml')
  if (wrong.length > 0) throw new Error(`These settings are wrong:\n${wrong.map((line) => `  ${line}`).join('\n')}`)
} catch (error) {
  program.error((error as Error).message)
}

let unlock: (() => void) | undefined
let database: LocalDatabase | undefined
let worker: MiniflareWorker | undefined
let front: Front | undefined
let stopCron: StopCron | undefined

const service = runService({
  start,
  async stop(impatience) {
    const within = (ms: number) => Promise.race([impatience, setTimeout(ms)])
    await front?.close(within(REQUESTS_MS))
    await stopCron?.(within(CRON_MS))
    // Either may be in the middle of a restart.
    await Promise.race([impatience, worker?.stop()])
    await Promise.race([impatience, database?.stop()])
    unlock?.()
    if (worker !== undefined) log('info', 'serve_stopped')
  },
  say,
})

async function start(): Promise<void> {
  const config = readToml(await readFile('wrangler.toml', 'utf8')).value as Unstable_RawConfig
  const { host, port, apiToken, apiTokens, stateDirectory } = settings
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  unlock = await lockStateDirectory(stateDirectory, url, command)
  // First, so that requests are answered 503 until the Worker is up.
  front = new Front(settings, (path) => worker?.at(path) ?? null)
  await front.listen().catch((error: NodeJS.ErrnoException) => {
    const isTaken = error.code === 'EADDRINUSE'
    throw new Error(isTaken ? `Port ${port} is in use by another program. Choose another PORT.` : error.message)
  })
  const databaseUrl = await startDatabase()
  if (service.isStopping()) return
  worker = await MiniflareWorker.start({
    config,
    script: await cachedBuild(join(stateDirectory, 'worker'), config),
    secrets: { DATABASE_URL: databaseUrl, API_TOKEN: apiToken, API_TOKENS: apiTokens },
    directory: join(stateDirectory, 'tmp'),
    say,
  })
  refuseWrongSettings(await readHealth(`${config.vars?.BASE_PATH ?? ''}/healthz`))
  if (service.isStopping()) return
  stopCron = startCron((cron, time) => worker!.scheduled(cron, time), config.triggers!.crons!, say)
  log('info', 'serve_started', { version: VERSION, url, database: database?.server.description ?? 'DATABASE_URL' })
}

/** Starts the database, or brings that of DATABASE_URL up to this version. @returns the Worker's DATABASE_URL */
async function startDatabase(): Promise<string> {
  const { mysqlUrl, databaseUrl, stateDirectory } = settings
  if (databaseUrl !== '') {
    const applied = await migrate({ databaseUrl })
    if (applied.length > 0) say(`Applied ${applied.length} migrations.`)
    return databaseUrl
  }
  if (mysqlUrl === '') say(`A private database keeps its data and a week of binary log in ${stateDirectory}.`)
  database = await startLocalDatabase({ stateDirectory, mysqlUrl, say })
  return database.databaseUrl
}

/** The Worker's answer. It need not be healthy: once the database is, it counts. */
async function readHealth(path: string): Promise<string> {
  const sent = http.get(worker!.at(path)!, { path: `http://localhost${path}`, signal: AbortSignal.timeout(30_000) })
  const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
  return text(response)
}
