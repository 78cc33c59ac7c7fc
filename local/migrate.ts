// `npm run migrate`: brings a database's tables to this version.
import { existsSync } from 'node:fs'
import { program } from 'commander'
import { MigrationStopped, markApplied, migrate, migrationStatus } from './migrations.ts'

program
  .name('npm run migrate --')
  .description(
    'Applies migrations/*.sql, in order and each once, to the database that DATABASE_URL names (environment or .dev.vars).',
  )
  .option('--status', 'only tell what is applied and what is not')
  .option('--mark-applied', 'record everything as applied without running it: after a PlanetScale deploy request')
  .addHelpText(
    'after',
    '\nDATABASE_URL  https://USER:PASSWORD@HOST (PlanetScale), http://… (local endpoint), or mysql://USER:PASSWORD@HOST:PORT/DATABASE',
  )
  .parse()

const options = program.opts<{ status?: boolean; markApplied?: boolean }>()
// What is set in the environment wins.
if (existsSync('.dev.vars')) process.loadEnvFile('.dev.vars')
const databaseUrl = process.env.DATABASE_URL ?? ''
if (!URL.canParse(databaseUrl)) {
  program.error('DATABASE_URL is missing or not a URL. Set it in the environment or in .dev.vars; see --help.')
}
const where = new URL(databaseUrl).host
const say = (line: string) => console.log(line)

try {
  if (options.status) {
    const { applied, pending } = await migrationStatus({ databaseUrl, say })
    for (const name of applied) say(`  applied  ${name}`)
    for (const name of pending) say(`  pending  ${name}`)
  } else if (options.markApplied) {
    const names = await markApplied({ databaseUrl, say })
    say(names.length === 0 ? `Nothing to record at ${where}.` : `Recorded as applied at ${where}: ${names.join(', ')}`)
  } else {
    const names = await migrate({ databaseUrl, say })
    say(names.length === 0 ? `The database at ${where} is up to date.` : `Applied ${names.length} at ${where}.`)
  }
} catch (error) {
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''
  const reason = error instanceof Error ? `${error.message}${cause}` : String(error)
  program.error(error instanceof MigrationStopped ? reason : `The database at ${where} could not be asked: ${reason}`)
}
