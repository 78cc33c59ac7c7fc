import type { Context } from 'hono'
import * as z from 'zod/mini'
import { DatabaseFailure } from '../database/errors.ts'
import {
  applyMigrations,
  MigrationStopped,
  OtherKeyspace,
  RECORD,
  readMissing,
  readProgress,
  statementsToDeploy,
} from '../database/migrations.ts'
import { withRetries } from '../database/retry.ts'
import { missingSharding } from '../database/sharding.ts'
import { countStatements } from '../database/statement-budget.ts'
import { MIGRATIONS } from '../generated.ts'
import type { AppEnv } from '../http/context.ts'
import { endpoint } from '../http/endpoint.ts'
import { Problem } from '../http/problem.ts'
import { isolateOf, openBackgroundDatabase } from '../isolate.ts'
import { log } from '../log.ts'
import { documented, type Route } from '../openapi/contract.ts'
import { described, namedObject } from '../openapi/described.ts'
import { DATABASE } from '../openapi/problem-schema.ts'

const names = (description: string) => described(z.array(z.string()), description)

const readSetup = { method: 'get', path: '/v1/setup', access: 'manage' } as const satisfies Route

const readSetupContract = /* @__PURE__ */ documented(readSetup, () => ({
  id: 'setup',
  tag: 'Operating',
  summary: 'Get the state of the tables',
  description: 'Says which tables, columns and indexes the database lacks, and which migrations are pending.',
  answers: {
    200: {
      description: 'The state of the tables.',
      schema: namedObject('Setup', {
        ready: described(z.boolean(), 'Whether the database has everything that this version needs.'),
        missing: names('What it lacks, such as `table counter_names` or `index counter_names.name`.'),
        pending: names('The migrations that are not recorded as applied.'),
        statements: names('Statements that make what is missing, for a deploy request.'),
      }),
    },
  },
  problems: ['setup_stopped', ...DATABASE],
  examples: { ready: { summary: 'Ready', answer: { ready: true, missing: [], pending: [], statements: [] } } },
}))

const makeTables = { method: 'post', path: '/v1/setup', access: 'manage' } as const satisfies Route

const makeTablesContract = /* @__PURE__ */ documented(makeTables, () => ({
  id: 'makeTables',
  tag: 'Operating',
  summary: 'Make the tables',
  description:
    'Makes the tables, or brings them up to this version, as `npm run migrate` does. It is safe to send again, at any time and from ' +
    'several places at once.',
  answers: {
    200: {
      description: 'What was done.',
      schema: namedObject('SetupSummary', { applied: names('The migrations that this request applied.') }),
    },
  },
  problems: ['deploy_request_needed', 'setup_stopped', ...DATABASE],
  examples: { again: { summary: 'Nothing was left to do', answer: { applied: [] } } },
}))

/** The state of the tables. */
export const setupState = endpoint<typeof readSetupContract>(readSetup, async (c) => {
  const progress = await readProgress(withRetries(databaseFor(c)), MIGRATIONS).catch((error: unknown) => {
    throw error instanceof OtherKeyspace ? stopped(c, error.message) : error
  })
  const { missing, pending } = progress
  return c.json(
    {
      ready: missing.length === 0,
      missing,
      pending: pending.map(({ name }) => name),
      statements: missing.length === 0 ? [] : statementsToDeploy(progress),
    },
    200,
    { 'Cache-Control': 'no-store' },
  )
})

/** Makes the tables. */
export const setup = endpoint<typeof makeTablesContract>(makeTables, async (c) => {
  const made = makeAll(c)
  // A client that hangs up gets its tables, too.
  c.executionCtx.waitUntil(made.catch(() => {}))
  return c.json(await made, 200, { 'Cache-Control': 'no-store' })
})

/** For statements that may take long. Not through the circuit breaker, because the requests of visitors fail meanwhile. */
function databaseFor(c: Context<AppEnv>) {
  return openBackgroundDatabase(isolateOf(c.env).config)
}

async function makeAll(c: Context<AppEnv>) {
  const counted = countStatements(databaseFor(c))
  const db = withRetries(counted)
  const sharding = await missingSharding(db, isolateOf(c.env).config.ranges)
  if (sharding !== null) throw stopped(c, sharding)
  let applied: string[]
  try {
    applied = await applyMigrations(db, MIGRATIONS)
  } catch (error) {
    if (error instanceof OtherKeyspace) throw stopped(c, error.message)
    if (!(error instanceof MigrationStopped)) throw error
    const { cause } = error
    if (cause instanceof DatabaseFailure && cause.retry) throw cause
    throw stopped(c, reasonOf(error), error)
  }
  const missing = await readMissing(db, MIGRATIONS)
  if (missing.length > 0) {
    const detail = `All migrations are recorded as applied, but the database lacks: ${missing.join(', ')}. Another program may have tables of this name.`
    throw stopped(c, detail)
  }
  log('info', 'setup', { requestId: c.get('requestId'), applied, statements: counted.sent })
  return { applied }
}

function stopped(c: Context<AppEnv>, detail: string, error?: MigrationStopped): Problem {
  log('error', 'setup_stopped', { requestId: c.get('requestId'), detail, ...(error && { error: error.message }) })
  return new Problem(error?.needsDeployRequest ? 'deploy_request_needed' : 'setup_stopped', { detail, cause: error })
}

/** Why a statement failed and what to do, without the database's own words. */
function reasonOf({ migration, number, of, statement, message, cause, needsDeployRequest }: MigrationStopped): string {
  if (needsDeployRequest) {
    return (
      'This branch has safe migrations on: its tables come from deploy requests only. Run the missing statements (GET /v1/setup lists ' +
      'them, the dashboard shows them) on a development branch. Deploy it to this one, then make the tables again.'
    )
  }
  if (cause instanceof DatabaseFailure && cause.kind === 'credentials') {
    return 'The password in DATABASE_URL may not change tables. Use one with the role admin, or run `npm run migrate` with one.'
  }
  const errno = /\(errno (\d+)\)/.exec(message)?.[1]
  return (
    `${migration === null ? RECORD : `migrations/${migration}`} stopped at statement ${number} of ${of} (${statement} …)` +
    `${errno === undefined ? '' : `, with MySQL’s error ${errno}`}. The log has the reason, under setup_stopped. The statements before it were ` +
    'applied. Remove the cause and make the tables again.'
  )
}
