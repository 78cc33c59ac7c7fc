import * as v from 'valibot'
import { ConfigurationError } from '../config/mistakes.ts'
import { readRollUpState } from '../counters/rollup/lease.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { ownerTokenProblems } from '../http/authorization.ts'
import { endpoint } from '../http/endpoint.ts'
import { limitReading } from '../http/reading.ts'
import { log } from '../log.ts'
import { described, namedObject, operation, route } from '../openapi/contract.ts'
import { problemOf } from '../service/problem.ts'

const readHealth = route('get', '/healthz', 'anyone', { looseQuery: true })

export const readHealthContract = () =>
  operation(readHealth, {
    id: 'health',
    tag: 'Operating',
    summary: 'Check the health',
    description: 'For monitors: reads one row from the database. It needs no token and reveals nothing else.',
    answers: {
      200: {
        description: 'The Worker and its database work.',
        schema: namedObject('Healthy', { status: v.literal('ok'), database: v.literal('ok') }),
      },
      503: {
        description: 'The database is unavailable or not ready. Configuration errors are a problem document.',
        schema: namedObject('Unhealthy', {
          status: v.literal('unavailable'),
          database: described(v.string(), 'The code of the problem with the database.'),
          detail: v.string(),
        }),
        headers: ['Retry-After'],
      },
    },
    problems: ['too_many_requests'],
    examples: { well: { summary: 'Healthy', answer: { status: 'ok', database: 'ok' } } },
  })

export const health = endpoint<typeof readHealthContract>(readHealth, async (c, { caller }) => {
  await limitReading(c)
  const wrong = [...new Set([...caller.isolate.mistakes, ...ownerTokenProblems(c)])]
  if (wrong.length > 0) throw new ConfigurationError(wrong)
  try {
    // Shows that the database responds, accepts our credentials and has its tables.
    await readRollUpState(caller.db)
    return { status: 'ok', database: 'ok' }
  } catch (error) {
    if (!(error instanceof DatabaseFailure)) throw error
    const { code, details } = problemOf(error)
    log('error', 'unhealthy', { requestId: c.get('requestId'), code, error: error.message })
    return c.json({ status: 'unavailable', database: code, detail: details.detail } as const, 503, {
      'Cache-Control': 'no-store',
      'Retry-After': '5',
    })
  }
})
