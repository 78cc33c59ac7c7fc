// `npm run contention`: tells who waits for whose row in a database.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseEnv } from 'node:util'
import { InvalidArgumentError, program } from 'commander'
import { type DatabaseTarget, openTarget } from './database-target.ts'
import { type Deadlock, latestDeadlock } from './deadlock.ts'
import { countersAmong, type LockFindings, lockReport } from './lock-report.ts'
import { readIndexColumns, readLockTotals, readLockWaits, serverOf } from './lock-waits.ts'
import { PROJECT } from './worker-process.ts'

/** Waits mostly last milliseconds: one look would miss them. (MariaDB shows a new state every 100 ms.) */
const LOOKS = 10
const PAUSE_MS = 110

program
  .name('npm run contention --')
  .description(
    'Tells which connections wait for rows that others hold, in which table and row, since when, and with which statements; how ' +
      'much was waited since the server started; and the latest deadlock. It only looks.',
  )
  .option('--watch <seconds>', 'tell again after so many seconds, until Ctrl-C', (text: string) => {
    const seconds = Number(text)
    if (!(seconds >= 0.5 && seconds <= 86_400)) throw new InvalidArgumentError('It must be a number from 0.5 to 86400.')
    return seconds
  })
  .addHelpText(
    'after',
    `
DATABASE_URL  mysql://USER:PASSWORD@HOST:PORT/DATABASE, https://USER:PASSWORD@HOST (PlanetScale) or http://… (local endpoint).
              Without it: the database of the \`npm start\` that runs here (STATE_DIR, default .local), else .dev.vars.`,
  )
  .parse()
const { watch } = program.opts<{ watch?: number }>()

/** What is set in the environment wins, then what runs here. */
function databaseUrl(): string | undefined {
  if (process.env.DATABASE_URL) return process.env.DATABASE_URL
  const stateDirectory = resolve(PROJECT, process.env.STATE_DIR || '.local')
  for (const file of [join(stateDirectory, 'worker.env'), '.dev.vars']) {
    const url = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')).DATABASE_URL : undefined
    if (url) return url
  }
  return undefined
}

async function look(db: DatabaseTarget, database: string, product: 'MySQL' | 'MariaDB'): Promise<LockFindings> {
  const began = Date.now()
  const looks = await (async () => {
    const seen = []
    for (let i = 0; i < LOOKS; i++) {
      if (i > 0) await setTimeout(PAUSE_MS)
      seen.push(await readLockWaits(db, product))
    }
    return seen
  })().catch(asError)
  const seconds = (Date.now() - began) / 1_000
  const columns = await readIndexColumns(db).catch(() => new Map<string, string[]>())
  const counters = looks instanceof Error ? [] : countersAmong(looks.flat(), columns)
  const names = await readKeys(db, counters).catch(() => new Map<string, string>())
  const totals = await readLockTotals(db).catch(asError)
  const deadlock = await readDeadlock(db, database).catch(asError)
  return { looks, totals, deadlock, columns, names, seconds }
}

async function readDeadlock(db: DatabaseTarget, database: string): Promise<Deadlock | null> {
  const [row] = await db.execute('SHOW ENGINE INNODB STATUS')
  if (typeof row?.Status !== 'string') throw new Error('SHOW ENGINE INNODB STATUS shows nothing')
  return latestDeadlock(row.Status, database)
}

async function readKeys(db: DatabaseTarget, counters: readonly string[]): Promise<Map<string, string>> {
  if (counters.length === 0) return new Map()
  const rows = await db.execute(
    `SELECT CONCAT(record_type, ' ', record_id) AS counter, CONVERT(name USING utf8mb4) AS name FROM counter_names
     WHERE (record_type, record_id) IN (${counters.map((counter) => `(${counter.replace(' ', ', ')})`).join(', ')})`,
  )
  return new Map(rows.map(({ counter, name }) => [String(counter), String(name)]))
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

const url = databaseUrl()
if (url === undefined || !URL.canParse(url)) {
  program.error('No database is known: run `npm start`, or set DATABASE_URL; see --help.')
}
const host = new URL(url).host
try {
  const db = await openTarget(url)
  const { product, version, database } = await serverOf(db)
  for (;;) {
    console.log(`${product} ${version} at ${host}, database ${database}, ${new Date().toISOString().slice(0, 19)}Z\n`)
    console.log(lockReport(await look(db, database, product)))
    if (watch === undefined) break
    console.log(`\n${'-'.repeat(60)}\n`)
    await setTimeout(watch * 1_000)
  }
  await db.close()
} catch (error) {
  const { message, cause, code } = error as Error & { code?: string }
  const reason = message || code || String(error)
  program.error(
    `The database at ${host} could not be asked: ${reason}${cause instanceof Error ? ` (${cause.message})` : ''}`,
  )
}
