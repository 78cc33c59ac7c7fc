import type { Context } from 'hono'
import * as v from 'valibot'
import { DatabaseFailure } from '../database/errors.ts'
import { MigrationStopped, makeTables, readPending } from '../database/migrations.ts'
import { withRetries } from '../database/retry-and-breaker.ts'
import { waitUntilDone } from '../http/caller.ts'
import { endpoint } from '../http/endpoint.ts'
import type { AppEnv } from '../http/hono.ts'
import { openBackgroundDatabase } from '../isolate.ts'
import { log } from '../log.ts'
import { DATABASE, described, ok, operation, route } from '../openapi/contract.ts'
import { Problem } from '../service/problem.ts'

const names = (description: string) => described(v.array(v.string()), description)

const readSetup = route('get', '/v1/setup', 'manage')

export const readSetupContract = () =>
  operation(readSetup, 'Operating', 'setup', {
    summary: 'Get the state of the tables',
    description: 'Lists the migrations to apply: those newer than the tables, or all if a table is missing.',
    answers: ok('The state of the tables.', 'Setup', {
      ready: described(v.boolean(), 'Whether all tables exist in this version.'),
      pending: names('The migrations to apply.'),
      statements: names('Their statements, for a deploy request. They are safe to repeat.'),
    }),
    problems: ['database_unavailable'],
  })

const postSetup = route('post', '/v1/setup', 'manage')

export const makeTablesContract = () =>
  operation(postSetup, 'Operating', 'makeTables', {
    summary: 'Make the tables',
    description:
      'Does the same as `npm run migrate`. A lost table is made again, empty. Safe to repeat and to run concurrently.',
    answers: ok('Done.', 'SetupSummary', { applied: names('The migrations that this request applied.') }),
    problems: ['deploy_request_needed', 'setup_stopped', ...DATABASE],
  })

export const setupState = endpoint<typeof readSetupContract>(readSetup, async (c) => {
  const { pending } = await readPending(withRetries(openBackgroundDatabase(c.get('isolate'))))
  return {
    ready: pending.length === 0,
    pending: pending.map(({ name }) => name),
    statements: pending.flatMap(({ statements }) => statements),
  }
})

export const setup = endpoint<typeof makeTablesContract>(postSetup, (c) => waitUntilDone(c, makeAll(c)))

async function makeAll(c: Context<AppEnv>) {
  const requestId = c.get('requestId')
  try {
    // For long statements. Not through the circuit breaker, which opens while visitors' requests fail.
    const applied = await makeTables(withRetries(openBackgroundDatabase(c.get('isolate'))))
    log('info', 'setup', { requestId, applied })
    return { applied }
  } catch (error) {
    if (!(error instanceof MigrationStopped)) throw error
    const { cause, needsDeployRequest } = error
    if (cause instanceof DatabaseFailure && cause.retry) throw cause
    const detail = reasonOf(error)
    log('error', 'setup_stopped', { requestId, detail, ...(cause instanceof Error && { error: cause.message }) })
    throw new Problem(needsDeployRequest ? 'deploy_request_needed' : 'setup_stopped', detail, { cause: error })
  }
}

/** Why the tables cannot be made and what to do, without the database's own message. */
function reasonOf({ message, cause, needsDeployRequest }: MigrationStopped): string {
  if (cause === undefined) return message
  if (needsDeployRequest)
    return 'Safe migrations are enabled, so this branch accepts schema changes from deploy requests only. Run the statements of GET /v1/setup (or of the dashboard) on a development branch, deploy it to this one, and make the tables again.'
  if (cause instanceof DatabaseFailure && cause.kind === 'credentials')
    return 'The password in DATABASE_URL may not change tables. Use one with the role admin, here or with `npm run migrate` (`npx slotted-counter migrate`).'
  const errno = /\(errno (\d+)\)/.exec(String(cause))?.[1] ?? 'unknown'
  return `${message}, with MySQL’s error ${errno}. The log has the reason (setup_stopped). Earlier statements were applied. Remove the cause and make the tables again.`
}
