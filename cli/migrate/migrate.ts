// `npm run migrate`: brings the tables of a database up to this version.
import { existsSync } from 'node:fs'
import { program } from 'commander'
import { commandName } from '../command-name.ts'
import { describeError } from '../retried.ts'
import { MigrationRefused, markApplied, migrate, migrationStatus } from './migrations.ts'

program
  .name(commandName('migrate'))
  .description(
    'Applies the pending migrations (migrations/*.sql), in order, to the database of DATABASE_URL (from the environment or .dev.vars). If a table is missing, applies all of them again.',
  )
  .option('--status', 'only show which migrations are applied and which are pending')
  .option('--mark-applied', 'only record all migrations as applied, after a PlanetScale deploy request')
  .addHelpText(
    'after',
    '\nDATABASE_URL  https://USER:PASSWORD@HOST (PlanetScale), http://… (local endpoint), or mysql://USER:PASSWORD@HOST:PORT/DATABASE',
  )
  .parse()

const options = program.opts<{ status?: boolean; markApplied?: boolean }>()
// The environment takes precedence.
if (existsSync('.dev.vars')) process.loadEnvFile('.dev.vars')
const databaseUrl = process.env.DATABASE_URL ?? ''
if (!URL.canParse(databaseUrl)) {
  program.error('DATABASE_URL is missing or not a URL. Set it in the environment or in .dev.vars; see --help.')
}
const where = new URL(databaseUrl).host
const say = (line: string) => console.log(line)

try {
  if (options.status) {
    const { applied, pending } = await migrationStatus({ databaseUrl })
    for (const name of applied) say(`  applied  ${name}`)
    for (const name of pending) say(`  pending  ${name}`)
  } else if (options.markApplied) {
    const names = await markApplied({ databaseUrl })
    say(names.length === 0 ? `Nothing to record at ${where}.` : `Recorded as applied at ${where}: ${names.join(', ')}`)
  } else {
    const names = await migrate({ databaseUrl })
    for (const name of names) say(`  applied  ${name}`)
    say(names.length === 0 ? `The database at ${where} is up to date.` : `Applied ${names.length} at ${where}.`)
  }
} catch (error) {
  const reason = describeError(error)
  program.error(error instanceof MigrationRefused ? reason : `The database at ${where} could not be queried: ${reason}`)
}
