// `npm start`: everything on this machine, on a real database, until Ctrl-C.
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { program } from 'commander'
import { unstable_readConfig } from 'wrangler'
import { type StopCron, startCron } from './cron.ts'
import { type DemoSite, startDemoSite } from './demo-site.ts'
import { freePort, isFree } from './free-port.ts'
import { InstanceLock } from './instance.ts'
import { type LocalDatabase, startLocalDatabase } from './local-database.ts'
import { endLeftover, type ServerProcess } from './server-process.ts'
import { PROJECT, startWorker } from './worker-process.ts'

/** Milliseconds that stopping waits for a roll-up; a second Ctrl-C ends the wait. */
const CRON_PATIENCE_MS = 5_000
/** Where the demo site is, unless that port is taken or another one is asked for. */
const DEMO_PORT = 8788
/** Milliseconds within which a second signal is taken for the same one. */
const ONE_KEYSTROKE_MS = 1_000

program
  .name('npm start --')
  .description('Runs database, PlanetScale endpoint, Worker, cron and a demo site on this machine until Ctrl-C.')
  .option('--database-only', 'run the database and the endpoint, for `npx wrangler dev`')
  .addHelpText(
    'after',
    `
Environment:
  PORT       port of the Worker on 127.0.0.1 (default 8787)
  DEMO_PORT  port of the demo site on 127.0.0.1 (default 8788, or another one if that is taken)
  STATE_DIR  folder for the database and everything else that is kept (default .local)
  API_TOKEN  the Worker's API token (default "local")
  MYSQL_URL  a MySQL or MariaDB server to use instead of a private one: mysql://USER:PASSWORD@HOST:PORT[/DATABASE]`,
  )
  .parse()

const { databaseOnly = false } = program.opts<{ databaseOnly?: boolean }>()
const port = Number(process.env.PORT || 8787)
const demoPort = process.env.DEMO_PORT ? Number(process.env.DEMO_PORT) : undefined
const stateDirectory = resolve(PROJECT, process.env.STATE_DIR || '.local')
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
if (demoPort === port) program.error('DEMO_PORT must be another port than PORT.')

let lock: InstanceLock | undefined
let database: LocalDatabase | undefined
let worker: ServerProcess | undefined
let stopCron: StopCron | undefined
let demo: DemoSite | undefined
let hurry = () => {}
const impatience = new Promise<void>((resolve) => {
  hurry = resolve
})
let stopping: Promise<void> | undefined
let askedAt = 0

/** Stops what runs, in the opposite order. Safe to call at any point, also while starting. */
function stop(exitCode: number): Promise<void> {
  stopping ??= (async () => {
    process.exitCode = exitCode
    await demo?.stop()
    await stopCron?.(Promise.race([impatience, setTimeout(CRON_PATIENCE_MS)]))
    await worker?.stop()
    await database?.stop()
    await lock?.release()
    if (database !== undefined) say('Stopped; nothing is left running.')
    process.exit()
  })().catch((error: unknown) => {
    say(`Stopping failed: ${String(error)}`)
    process.exit(1)
  })
  return stopping
}

let starting: Promise<void> = Promise.resolve()
let started = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopping) {
      // One Ctrl-C arrives twice: from the terminal, and passed on by npm.
      if (Date.now() - askedAt < ONE_KEYSTROKE_MS) return
      hurry()
      // What is half started ends with this process: it is on a leash.
      if (!started) process.exit(1)
      return
    }
    askedAt = Date.now()
    say(`${signal}: stopping …`)
    // What is just being started is waited for, so that it can be stopped in order.
    stopping = starting
      .catch(() => {})
      .then(() => {
        stopping = undefined
        return stop(0)
      })
  })
}
// npm does not always pass on that it was killed; a service without its terminal is of no use to anyone.
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent && !stopping) {
      say('The process that started this is gone: stopping …')
      void starting.catch(() => {}).then(() => stop(1))
    }
  }, 1_000).unref()
}

async function start(): Promise<void> {
  lock = await InstanceLock.take(stateDirectory, databaseOnly ? 'the local endpoint' : url)
  if (await endLeftover(stateDirectory, 'worker')) say('Stopped a Worker that an earlier start had left running.')
  if (!databaseOnly && !(await isFree(port))) {
    throw new Error(`Port ${port} is in use by another program. Choose another one: PORT=${port + 2} npm start`)
  }
  if (!databaseOnly && demoPort !== undefined && !(await isFree(demoPort))) {
    throw new Error(`Port ${demoPort} is in use by another program. Choose another one for the demo site: DEMO_PORT=…`)
  }
  say('Starting the database …')
  database = await startLocalDatabase({ stateDirectory, mysqlUrl: process.env.MYSQL_URL, say })
  void database.failed.then((error) => {
    say(`${error.message}\nSee ${join(stateDirectory, 'database/server.log')}.`)
    return stop(1)
  })
  if (databaseOnly) return
  if (stopping) return
  say('Starting the Worker …')
  const log = (line: string) => console.log(line)
  worker = await startWorker({ port, stateDirectory, databaseUrl: database.databaseUrl, apiToken, log })
  void worker.ended.then((code) => {
    if (!stopping) say(`The Worker ended by itself, with exit code ${code}.`)
    return stop(1)
  })
  demo = await startDemo()
  const { triggers } = unstable_readConfig({ config: join(PROJECT, 'wrangler.toml') })
  stopCron = startCron(url, triggers.crons ?? [], say)
}

/** The demo site, on the port that was asked for; else on its usual one, or a free one if a second start has that. */
async function startDemo(): Promise<DemoSite> {
  const wanted = demoPort ?? ((await isFree(DEMO_PORT)) ? DEMO_PORT : await freePort())
  try {
    return await startDemoSite({ counter: url, port: wanted })
  } catch (error) {
    throw new Error(`The demo site cannot use port ${wanted}. Choose another one: DEMO_PORT=…`, { cause: error })
  }
}

/** The replay command for this instance: what differs from the defaults goes with it. */
function replayCommand(): string {
  const variables = ['PORT', 'API_TOKEN', 'STATE_DIR'].filter((name) => process.env[name])
  return [...variables.map((name) => `${name}='${process.env[name]}'`), 'npm run replay -- access.log'].join(' ')
}

function greeting({ server, endpoint, databaseUrl }: LocalDatabase): string {
  const counter = `${url}/v1/counters/page_view/%2Fblog%2Fhello`
  const auth = `-H 'Authorization: Bearer ${apiToken}'`
  const running = `
  database   ${server.description}, data in ${stateDirectory}
  endpoint   http://127.0.0.1:${endpoint.port} (PlanetScale's HTTP API)`
  if (databaseOnly) {
    return `${running}

Put this into .dev.vars, then run: npx wrangler dev

  DATABASE_URL=${databaseUrl}
  API_TOKEN=${apiToken}

Ctrl-C stops it.`
  }
  return `${running}
  Worker     ${url}, roll-up every minute, API token "${apiToken}"
  demo site  ${demo!.url}, whose pages it counts
  dashboard  ${url}/ (sign in with the API token: ${apiToken})

To see a chart of real numbers, send an access log (add --dated to count its requests in their own days instead of now),
  ${replayCommand()}
or look at some pages of the demo site; then open the dashboard, sign in, and press "Roll up now".

Count a page view, as a browser does:
  curl -i ${url}/hit -A 'Mozilla/5.0 (X11) Firefox/145' -H 'Content-Type: application/json' -d '{"type":"page_view","key":"/blog/hello"}'
Read it, exact at every instant:
  curl ${counter}
Count with the token, and read back:
  curl '${counter}?return=count' ${auth} -H 'Content-Type: application/json' -d '{"by":10}'
Roll up now instead of at the full minute, and see how things stand:
  curl -X POST ${url}/v1/rollup ${auth}
  curl ${url}/v1/status ${auth}

The Worker's log follows. Ctrl-C stops everything.`
}

starting = start().finally(() => {
  started = true
})
try {
  await starting
  if (!stopping) console.log(`${greeting(database!)}\n`)
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  if (!stopping) await stop(1)
}
