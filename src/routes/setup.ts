import type { Context } from 'hono'
import * as v from 'valibot'
import { countStatements } from '../database/database.ts'
import { DatabaseFailure } from '../database/errors.ts'
import {
  applyMigrations,
  MigrationStopped,
  missingSharding,
  OtherKeyspace,
  RECORD,
  readMissing,
  readProgress,
  statementsToDeploy,
} from '../database/migrations.ts'
import { withRetries } from '../database/retry-and-breaker.ts'
import { NOT_STRICT, readServerIdentity } from '../database/server-statistics.ts'
import { MIGRATIONS } from '../generated.ts'
import { finished } from '../http/caller.ts'
import { endpoint } from '../http/endpoint.ts'
import type { AppEnv } from '../http/hono.ts'
import { openBackgroundDatabase } from '../isolate.ts'
import { log } from '../log.ts'
import { described, namedObject, ok, operation, route } from '../openapi/contract.ts'
import { DATABASE } from '../openapi/problems.ts'
import { Problem } from '../service/problem.ts'

const names = (description: string) => described(v.array(v.string()), description)

const readSetup = route('get', '/v1/setup', 'manage')

export const readSetupContract = () =>
  operation(readSetup, {
    id: 'setup',
    tag: 'Operating',
    summary: 'Get the state of the tables',
    description: 'Lists the tables, columns and indexes that the database lacks, and the pending migrations.',
    answers: ok(
      'The state of the tables.',
      namedObject('Setup', {
        ready: described(v.boolean(), 'Whether nothing is missing.'),
        missing: names('What it lacks, such as `table counters` or `index counters.name`.'),
        pending: names('The migrations not recorded as applied.'),
        statements: names('Statements that create what is missing, for a deploy request.'),
      }),
    ),
    problems: ['setup_stopped', ...DATABASE],
    examples: { ready: { summary: 'Ready', answer: { ready: true, missing: [], pending: [], statements: [] } } },
  })

const makeTables = route('post', '/v1/setup', 'manage')

export const makeTablesContract = () =>
  operation(makeTables, {
    id: 'makeTables',
    tag: 'Operating',
    summary: 'Make the tables',
    description:
      'Makes the tables, or migrates them to this version, as `npm run migrate` does. Safe to repeat, also concurrently.',
    answers: ok(
      'What was done.',
      namedObject('SetupSummary', { applied: names('The migrations that this request applied.') }),
    ),
    problems: ['deploy_request_needed', 'setup_stopped', ...DATABASE],
    examples: { again: { summary: 'Nothing was left to do', answer: { applied: [] } } },
  })

export const setupState = endpoint<typeof readSetupContract>(readSetup, async (c) => {
  const db = withRetries(openBackgroundDatabase(c.get('isolate')))
  const progress = await readProgress(db, MIGRATIONS).catch((error: unknown) => refuse(c, error))
  const { missing, pending } = progress
  const ready = missing.length === 0
  const statements = ready ? [] : statementsToDeploy(progress)
  return { ready, missing, pending: pending.map(({ name }) => name), statements }
})

export const setup = endpoint<typeof makeTablesContract>(makeTables, (c) => finished(c, makeAll(c)))

async function makeAll(c: Context<AppEnv>) {
  const isolate = c.get('isolate')
  // For long statements. Not through the circuit breaker, which opens while visitors' requests fail.
  const counted = countStatements(openBackgroundDatabase(isolate))
  const db = withRetries(counted)
  const sharding = await missingSharding(db, isolate.config.ranges)
  if (sharding !== null) throw stopped(c, sharding)
  if (!(await readServerIdentity(db)).strict) throw stopped(c, NOT_STRICT)
  const applied = await applyMigrations(db, MIGRATIONS).catch((error: unknown) => refuse(c, error))
  const missing = await readMissing(db, MIGRATIONS)
  if (missing.length > 0) {
    const detail = `All migrations are recorded as applied, but these are missing: ${missing.join(', ')}. Another program may use the same table names.`
    throw stopped(c, detail)
  }
  log('info', 'setup', { requestId: c.get('requestId'), applied, statements: counted.sent })
  return { applied }
}

/** @throws {Problem} that says why the tables cannot be made, or any other error as it is */
function refuse(c: Context<AppEnv>, error: unknown): never {
  if (error instanceof OtherKeyspace) throw stopped(c, error.message)
  if (!(error instanceof MigrationStopped)) throw error
  const { cause } = error
  throw cause instanceof DatabaseFailure && cause.retry ? cause : stopped(c, reasonOf(error), error)
}

function stopped(c: Context<AppEnv>, detail: string, error?: MigrationStopped): Problem {
  log('error', 'setup_stopped', { requestId: c.get('requestId'), detail, ...(error && { error: error.message }) })
  return new Problem(error?.needsDeployRequest ? 'deploy_request_needed' : 'setup_stopped', { detail, cause: error })
}

/** Why a statement failed and what to do, without the database's own message. */
function reasonOf({ migration, number, of, statement, message, cause, needsDeployRequest }: MigrationStopped): string {
  if (needsDeployRequest) {
    return (
      'Safe migrations are enabled, so this branch accepts schema changes from deploy requests only. Run the missing statements ' +
      '(see GET /v1/setup or the dashboard) on a development branch, deploy it to this one, and make the tables again.'
    )
  }
  if (cause instanceof DatabaseFailure && cause.kind === 'credentials') {
    return 'The password in DATABASE_URL may not change tables. Use one with the role admin, here or with `npm run migrate`.'
  }
  const errno = /\(errno (\d+)\)/.exec(message)?.[1]
  return (
    `${migration === RECORD ? RECORD : `migrations/${migration}`} stopped at statement ${number} of ${of} (${statement} …)` +
    `${errno === undefined ? '' : `, with MySQL’s error ${errno}`}. The log has the reason (setup_stopped). Earlier statements were ` +
    'applied. Remove the cause and make the tables again.'
  )
}
