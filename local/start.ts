// `npm start`, and `slotted-counter dev` in an application: runs everything on this machine, with a real database, until Ctrl-C.
import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { program } from 'commander'
import { unstable_readConfig } from 'wrangler'
import { wrongSettings } from '../cli/check/wrong-settings.ts'
import { IN_PACKAGE, START } from '../cli/command-name.ts'
import { STATE_DIRECTORY } from '../cli/state-directory.ts'
import { readConfig } from '../src/config/config.ts'
import { cronAt, type StopCron, startCron } from './cron.ts'
import { type LocalDatabase, startLocalDatabase } from './database/local-database.ts'
import type { DemoSite } from './demo-site.ts'
import { isFree } from './processes/free-port.ts'
import { endLeftover, type ServerProcess } from './processes/server-process.ts'
import { runService } from './processes/service.ts'
import { lockStateDirectory } from './state-directory-lock.ts'
import { startWorker } from './worker/wrangler-dev.ts'

/** Milliseconds to wait for a roll-up when stopping. A second Ctrl-C ends the wait. */
const CRON_PATIENCE_MS = 5_000
/** The port of the demo site, unless it is in use or DEMO_PORT is set. */
const DEMO_PORT = 8788

const SETTINGS = 'wrangler.toml'

program
  .name(IN_PACKAGE ? START : `${START} --`)
  .description(
    `Runs the database, the PlanetScale endpoint, the Worker${IN_PACKAGE ? ' and its cron' : ', its cron and a demo site'} on this machine, until Ctrl-C.`,
  )
  .option('--database-only', 'run only the database and the endpoint, for `npx wrangler dev`')
  .option(
    '--mounted',
    'the counter is mounted in a Worker with other variables and cron triggers; its bindings have their own names',
  )
  .addHelpText(
    'after',
    `
Environment:
  PORT       port of the Worker on 127.0.0.1 (default 8787)
${IN_PACKAGE ? '' : '  DEMO_PORT  port of the demo site on 127.0.0.1 (default 8788, or a free one if that is in use)\n'}  STATE_DIR  folder for the database and all other data (default .local)
  API_TOKEN  the Worker's API token (default "local")
  API_TOKENS named tokens, a line for each (default none)
  MYSQL_URL  a MySQL or MariaDB server to use instead of a private one: mysql://USER:PASSWORD@HOST:PORT[/DATABASE]`,
  )
  .parse()

const { databaseOnly = false, mounted } = program.opts<{ databaseOnly?: boolean; mounted?: boolean }>()
// The environment takes precedence.
const secretsFile = IN_PACKAGE && existsSync('.dev.vars') ? '.dev.vars' : null
if (secretsFile !== null) process.loadEnvFile(secretsFile)
const port = Number(process.env.PORT || 8787)
const demoPort = process.env.DEMO_PORT ? Number(process.env.DEMO_PORT) : undefined
const demoPortTaken = `Port ${demoPort} is in use by another program. Choose another one for the demo site: DEMO_PORT=…`
const apiToken = process.env.API_TOKEN || 'local'
const url = `http://127.0.0.1:${port}`
const say = (line: string) => console.log(`[local] ${line}`)

for (const [name, value] of [
  ['PORT', port],
  ['DEMO_PORT', demoPort ?? DEMO_PORT],
] as const) {
  if (!Number.isInteger(value) || value < 1 || value > 65_535)
    program.error(`${name} must be a number from 1 to 65535.`)
}
if (demoPort === port) program.error('DEMO_PORT and PORT must differ.')

let unlock: (() => void) | undefined
let database: LocalDatabase | undefined
let worker: ServerProcess | undefined
let stopCron: StopCron | undefined
let demo: DemoSite | undefined
/** The origins that wrangler.toml allows. On this machine, all are allowed. */
let origins: string[] = []

const service = runService({
  async start() {
    await start()
    if (!service.isStopping()) console.log(`${greeting(database!)}\n`)
  },
  async stop(impatience) {
    await demo?.stop()
    await stopCron?.(Promise.race([impatience, setTimeout(CRON_PATIENCE_MS)]))
    await worker?.stop()
    await Promise.race([impatience, database?.stop()])
    unlock?.()
    if (database !== undefined) say('Stopped; nothing is left running.')
  },
  say,
})

async function start(): Promise<void> {
  const wrong = databaseOnly ? [] : wrongSettings(SETTINGS, mounted)
  if (wrong.length > 0) throw new Error(`These settings are wrong:\n${wrong.map((line) => `  ${line}`).join('\n')}`)
  unlock = await lockStateDirectory(STATE_DIRECTORY, databaseOnly ? 'the local endpoint' : url, START)
  if (await endLeftover(STATE_DIRECTORY, 'worker')) say('Stopped a Worker that an earlier start left running.')
  if (!databaseOnly && !(await isFree(port))) {
    throw new Error(`Port ${port} is in use by another program. Choose another one: PORT=${port + 2} ${START}`)
  }
  if (!databaseOnly && demoPort !== undefined && !(await isFree(demoPort))) {
    throw new Error(demoPortTaken)
  }
  say('Starting the database …')
  database = await startLocalDatabase({ stateDirectory: STATE_DIRECTORY, mysqlUrl: process.env.MYSQL_URL, say })
  if (databaseOnly || service.isStopping()) return
  if (!IN_PACKAGE) demo = await startDemo()
  say('Starting the Worker …')
  worker = await startWorker({
    port,
    stateDirectory: STATE_DIRECTORY,
    databaseUrl: database.databaseUrl,
    apiToken,
    apiTokens: process.env.API_TOKENS ?? '',
    secretsFile,
    files: demo === undefined ? null : `${demo.url}/files/`,
    log: (line) => console.log(line),
  })
  void worker.ended.then((code) => {
    if (!service.isStopping()) say(`The Worker ended unexpectedly, with exit code ${code}.`)
    return service.end(1)
  })
  const { triggers, vars } = unstable_readConfig({ config: SETTINGS })
  origins = [...new Set([...readConfig(vars).config.types.values()].flatMap((type) => type.allowedOrigins))]
  stopCron = startCron(cronAt(`${url}/cdn-cgi/handler/scheduled`), triggers.crons ?? [], say)
}

/** Starts the demo site on DEMO_PORT if that is set, else on its usual port, or on a free one if that is in use. */
async function startDemo(): Promise<DemoSite> {
  const { startDemoSite } = await import('./demo-site.ts')
  const startAt = (port: number) => startDemoSite({ counter: url, port })
  // By trying: between a look and the start, another `npm start` may take the port.
  return startAt(demoPort ?? DEMO_PORT).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    if (demoPort === undefined) return startAt(0)
    throw new Error(demoPortTaken, { cause: error })
  })
}

/** The replay command for this service, with the variables that differ from their defaults. */
function replayCommand(): string {
  const variables = ['PORT', 'API_TOKEN', 'STATE_DIR'].filter((name) => process.env[name])
  return [...variables.map((name) => `${name}='${process.env[name]}'`), 'npm run replay -- access.log'].join(' ')
}

function greeting({ server, endpoint, databaseUrl }: LocalDatabase): string {
  const counter = `${url}/v1/counters/page_view/%2Fblog%2Fhello`
  const auth = `-H 'Authorization: Bearer ${apiToken}'`
  const running = `
  database   ${server.description}, data in ${STATE_DIRECTORY}
  endpoint   http://127.0.0.1:${endpoint.port} (PlanetScale's HTTP API)`
  if (databaseOnly) {
    return `${running}

Put this into .dev.vars, then run: npx wrangler dev

  DATABASE_URL=${databaseUrl}
  API_TOKEN=${apiToken}

Ctrl-C stops it.`
  }
  const worker = `${running}
  Worker     ${url}, roll-up every minute, API token "${apiToken}"`
  const dashboard = `  dashboard  ${url}/ (sign in with the API token: ${apiToken})`
  const sites = `  sites      any page may count here; once deployed, only the sites in wrangler.toml: ${origins.join(', ') || 'none'}`
  const logFollows = "The Worker's log follows. Ctrl-C stops everything."
  if (mounted) return `${worker}\n\n${logFollows}`
  if (IN_PACKAGE) {
    return `${worker}
${dashboard}
${sites}

Every page on this machine with this line is counted:

  <script defer src="${url}/slotted.js"></script>

${logFollows}`
  }
  return `${worker}
  demo site  ${demo!.url} (its pages are counted)
${dashboard}
${sites}
  limits     no rate limits for requests from this machine; budgets of new keys as in wrangler.toml

To see a chart of real numbers, replay an access log (--dated counts its requests on their own days instead of today):
  ${replayCommand()}
Or visit some pages of the demo site. Then open the dashboard and sign in. Every minute, a roll-up updates its numbers.

Count a page view, as a browser does:
  curl -i ${url}/hit -A 'Mozilla/5.0 (X11) Firefox/145' -H 'Content-Type: application/json' -d '{"type":"page_view","key":"/blog/hello"}'
Read the exact count:
  curl ${counter}
Count with the token and read the new count:
  curl '${counter}?return=count' ${auth} -H 'Content-Type: application/json' -d '{"by":10}'
Roll up now instead of at the next full minute, and read the status:
  curl -X POST ${url}/v1/rollup ${auth}
  curl ${url}/v1/status ${auth}

${logFollows}`
}
