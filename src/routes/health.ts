import * as v from 'valibot'
import { ConfigurationError } from '../config/read-settings.ts'
import { ownerTokenProblems } from '../http/authorization.ts'
import { endpoint } from '../http/endpoint.ts'
import { limitReading } from '../http/reading.ts'
import { log } from '../log.ts'
import { described, namedObject, operation, route } from '../openapi/contract.ts'
import { readHealth } from '../service/status.ts'

const healthRoute = route('get', '/healthz', 'anyone', { looseQuery: true })

export const readHealthContract = () =>
  operation(healthRoute, {
    id: 'health',
    tag: 'Operating',
    summary: 'Check the health',
    description:
      'For monitors: whether a hit would be counted. It looks for all tables in this version, reads how the last roll-up ended, and knows whether the last write of this isolate succeeded. It needs no token and reveals nothing else.',
    answers: {
      200: {
        description: 'Hits are counted and rolled up.',
        schema: namedObject('Healthy', { status: v.literal('ok'), database: v.literal('ok') }),
      },
      503: {
        description:
          'The database is unavailable or not ready, or refuses writes, or roll-ups fail. Configuration errors are a problem document.',
        schema: namedObject('Unhealthy', {
          status: v.literal('unavailable'),
          database: described(v.string(), 'The code of the first problem.'),
          detail: v.string(),
        }),
        headers: ['Retry-After'],
      },
    },
    problems: ['too_many_requests'],
    examples: { well: { summary: 'Healthy', answer: { status: 'ok', database: 'ok' } } },
  })

export const health = endpoint<typeof readHealthContract>(healthRoute, async (c, { caller: { isolate } }) => {
  await limitReading(c)
  const wrong = [...new Set([...isolate.mistakes, ...ownerTokenProblems(c)])]
  if (wrong.length > 0) throw new ConfigurationError(wrong)
  const { problems, failure } = await readHealth(isolate, new Date())
  const [problem] = problems
  if (problem === undefined) return { status: 'ok', database: 'ok' }
  const { code, detail } = problem
  const error = failure instanceof Error ? failure.message : detail
  log('error', 'unhealthy', { requestId: c.get('requestId'), code, error })
  return c.json({ status: 'unavailable', database: code, detail } as const, 503, {
    'Cache-Control': 'no-store',
    'Retry-After': '5',
  })
})
