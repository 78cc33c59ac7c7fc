// `npm run contention`: shows which connections of a database wait for locked rows.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseEnv } from 'node:util'
import { InvalidArgumentError, program } from 'commander'
import { commandName, START } from '../command-name.ts'
import { connectDatabase, type DatabaseConnection } from '../database-connection.ts'
import { describeError } from '../retried.ts'
import { STATE_DIRECTORY } from '../state-directory.ts'
import { lockReport } from './lock-report.ts'
import { type LockWait, type Product, readLockWaits, serverOf } from './lock-waits.ts'
import { nameRows } from './locked-rows.ts'

/** Most waits last milliseconds, so a single sample would miss them. MariaDB refreshes its state every 100 ms. */
const SAMPLES = 10
const PAUSE_MS = 110

program
  .name(commandName('contention'))
  .description(
    'Shows which connections wait for locked rows: which row, for how long, and the statements on both sides. It ' +
      'changes nothing.',
  )
  .option('--watch <seconds>', 'repeat after so many seconds, until Ctrl-C', (text: string) => {
    const seconds = Number(text)
    if (!(seconds >= 0.5 && seconds <= 86_400)) throw new InvalidArgumentError('It must be a number from 0.5 to 86400.')
    return seconds
  })
  .addHelpText(
    'after',
    `
DATABASE_URL  mysql://USER:PASSWORD@HOST:PORT/DATABASE, https://USER:PASSWORD@HOST (PlanetScale) or http://… (local endpoint).
              Default: the database of the \`${START}\` that runs here (STATE_DIR, default .local), else that of .dev.vars.`,
  )
  .parse()
const { watch } = program.opts<{ watch?: number }>()

/** From the environment, else from the `npm start` that runs here, else from .dev.vars. */
function databaseUrl(): string | undefined {
  if (process.env.DATABASE_URL) return process.env.DATABASE_URL
  for (const file of [join(STATE_DIRECTORY, 'worker.env'), '.dev.vars']) {
    const url = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')).DATABASE_URL : undefined
    if (url) return url
  }
  return undefined
}

async function inspectLocks(db: DatabaseConnection, product: Product): Promise<string> {
  const began = Date.now()
  const samples: LockWait[][] = []
  try {
    for (let i = 0; i < SAMPLES; i++) {
      if (i > 0) await setTimeout(PAUSE_MS)
      samples.push(await readLockWaits(db, product))
    }
  } catch (error) {
    const reason = describeError(error).replace(/\s+/g, ' ').slice(0, 200)
    return (
      'Lock waits: not available. The database user may lack the right to see it, or the service does not offer it ' +
      `(${reason}).\n\nHot rows: unknown, for the same reason.`
    )
  }
  const seconds = (Date.now() - began) / 1_000
  return lockReport(samples, await nameRows(db, samples.flat()), seconds)
}

const url = databaseUrl()
if (url === undefined || !URL.canParse(url)) {
  program.error(`There is no database to inspect: run \`${START}\`, or set DATABASE_URL; see --help.`)
}
const host = new URL(url).host
try {
  const db = await connectDatabase(url)
  const { product, version, database } = await serverOf(db)
  for (;;) {
    console.log(`${product} ${version} at ${host}, database ${database}, ${new Date().toISOString().slice(0, 19)}Z\n`)
    console.log(await inspectLocks(db, product))
    if (watch === undefined) break
    console.log(`\n${'-'.repeat(60)}\n`)
    await setTimeout(watch * 1_000)
  }
  await db.close()
} catch (error) {
  program.error(`The database at ${host} could not be queried: ${describeError(error)}`)
}
