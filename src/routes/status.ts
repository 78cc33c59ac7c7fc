import * as v from 'valibot'
import type { CounterType } from '../config/counter-types.ts'
import { ConfigurationError } from '../config/read-settings.ts'
import { SPELLINGS } from '../counters/keys/key-address.ts'
import { TooManyKeys } from '../counters/keys/prefix.ts'
import { MAX_COUNTED } from '../counters/rollup/roll-up.ts'
import { ownerTokenProblems } from '../http/authorization.ts'
import { endpoint } from '../http/endpoint.ts'
import { limitReading } from '../http/reading.ts'
import { log } from '../log.ts'
import { described, instant, namedObject, ok, operation, READING, route, whole } from '../openapi/contract.ts'
import type { Caller } from '../service/caller.ts'
import { readSum } from '../service/read.ts'
import { FINDING_CODES, readHealth, readStatus, type Status } from '../service/status.ts'

const healthRoute = route('get', '/healthz', 'anyone', { looseQuery: true })

export const readHealthContract = () =>
  operation(healthRoute, 'Operating', 'health', {
    summary: 'Check the health',
    description:
      'For monitors: whether a hit would be counted. It checks that all tables exist in this version, that roll-ups succeed, that the last write of this isolate did, and that no circuit breaker holds hits back. It needs no token and reveals nothing else.',
    answers: {
      200: {
        description: 'Hits are counted and rolled up.',
        schema: namedObject('Healthy', { status: v.literal('ok'), database: v.literal('ok') }),
      },
      503: {
        description:
          'The database is unavailable or not ready, or refuses writes, or roll-ups fail. Configuration errors are reported as a problem document.',
        schema: namedObject('Unhealthy', {
          status: v.literal('unavailable'),
          database: described(v.string(), 'The code of the first problem.'),
          detail: v.string(),
        }),
        headers: ['Retry-After'],
      },
    },
    problems: ['too_many_requests'],
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

const statusRoute = route('get', '/v1/status', 'read')

export const readStatusContract = () =>
  operation(statusRoute, 'Operating', 'status', {
    summary: 'Get the status',
    description:
      'Reports problems, pending counts, what verification found and dead batches. If the database is unavailable, the response is still 200, and ' +
      '`problems` says so; a number that could not be read is null. Counts are exact even if the roll-up is behind.',
    answers: ok('The status.', 'Status', {
      version: v.string(),
      healthy: described(v.boolean(), 'True if there are no problems.'),
      problems: described(
        v.array(
          v.strictObject({
            code: v.picklist(FINDING_CODES),
            detail: described(v.string(), 'What it means and what to do.'),
          }),
        ),
        'Problems that need attention.',
      ),
      pendingSlots: described(v.nullable(whole), `Slots with pending counts, up to ${MAX_COUNTED}.`),
      behindSeconds: described(
        v.nullable(whole),
        'Seconds since a roll-up left nothing pending; null before the first.',
      ),
      verification: v.strictObject({
        agreedAt: described(
          v.nullable(instant),
          'When the daily verification last found that every sum agrees; null if it has found mismatches since.',
        ),
        mismatches: described(
          v.nullable(whole),
          'Mismatches found since then, up to 10; null before the first verification ends.',
        ),
      }),
      deadBatches: described(v.nullable(whole), 'Batches of the queue that could not be counted.'),
      types: described(
        v.array(v.strictObject({ name: v.string(), recordType: whole, sameKey: v.array(v.picklist(SPELLINGS)) })),
        'The configured types, with the settings that determine where their counters are stored.',
      ),
    }),
    problems: [],
  })

export const status = endpoint<typeof readStatusContract>(statusRoute, (c, { caller: { isolate } }) =>
  readStatus(isolate, new Date(), c.get('requestId')),
)

const OPEN_METRICS = 'application/openmetrics-text'

const metricsRoute = route('get', '/v1/metrics', 'read')

export const readMetricsContract = () =>
  operation(metricsRoute, 'Operating', 'metrics', {
    summary: 'Get the metrics',
    description:
      'For Prometheus and other monitors, in the OpenMetrics text format: totals of types and of the prefixes that they list, and the status.',
    answers: { 200: { description: 'The metrics.', contentType: OPEN_METRICS } },
    problems: READING,
  })

export const metrics = endpoint<typeof readMetricsContract>(metricsRoute, async (c, { caller }) => {
  const sums = [...caller.isolate.config.types.values()].flatMap((type) =>
    [null, ...type.prefixes].map((prefix) => sumOf(caller, type, prefix)),
  )
  const [status, ...samples] = await Promise.all([readStatus(caller.isolate, new Date(), c.get('requestId')), ...sums])
  return c.body(metricsText(status, samples.flat()), 200, {
    'Content-Type': `${OPEN_METRICS}; version=1.0.0; charset=utf-8`,
    'Cache-Control': 'no-store',
  })
})

type Sample = [labels: Record<string, string>, value: bigint | number]

/**
 * Writes OpenMetrics 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/). Totals are gauges, because corrections lower them, and
 * as of the last roll-up, so that they never fall back. Prefixes have their own metric: adding up one counts nothing twice.
 */
export function metricsText(status: Status, sums: readonly Sample[]): string {
  const { version, healthy, problems, pendingSlots, behindSeconds, verification, deadBatches } = status
  const ofTypes = sums.filter(([labels]) => !('prefix' in labels))
  const ofPrefixes = sums.filter(([labels]) => 'prefix' in labels)
  const ofCodes = Map.groupBy(problems, ({ code }) => code)
  const known = (value: number | null): Sample[] => (value === null ? [] : [[{}, value]])
  const agreedAt = verification.agreedAt && Math.floor(Date.parse(verification.agreedAt) / 1_000)
  return [
    ...family('type_counts', 'Sum of the counters of a type.', ofTypes),
    ...family('prefix_counts', 'Sum of the counters whose keys begin with a prefix.', ofPrefixes),
    ...family('healthy', 'Whether there are no problems: 1 or 0.', [[{ version }, Number(healthy)]]),
    ...family(
      'problems',
      'Problems of the status that need attention.',
      [...ofCodes].map(([code, found]) => [{ code }, found.length]),
    ),
    ...family('pending_slots', `Slots with pending counts, up to ${MAX_COUNTED}.`, known(pendingSlots)),
    ...family('behind_seconds', 'Time since a roll-up left nothing pending.', known(behindSeconds), 'seconds'),
    ...family('agreed_timestamp_seconds', 'When every sum last agreed.', known(agreedAt || null), 'seconds'),
    ...family('mismatches', 'Sums that verification found wrong, up to 10.', known(verification.mismatches)),
    ...family('dead_batches', 'Batches of the queue that could not be counted.', known(deadBatches)),
    '# EOF\n',
  ].join('\n')
}

/** The sum of a prefix; `null`: of the whole type. None if it has too many keys. @throws {DatabaseFailure | Overloaded} */
async function sumOf(caller: Caller, type: CounterType, prefix: string | null): Promise<Sample[]> {
  try {
    const { reading } = await readSum(caller, type, prefix, 'rolled')
    return [[{ type: type.name, ...(prefix !== null && { prefix }) }, reading.total]]
  } catch (error) {
    if (error instanceof TooManyKeys) return []
    throw error
  }
}

/** The lines of a metric family. Its name ends with its unit. */
function family(name: string, help: string, samples: readonly Sample[], unit?: string): string[] {
  const full = `slotted_counter_${name}`
  return [
    `# TYPE ${full} gauge`,
    ...(unit === undefined ? [] : [`# UNIT ${full} ${unit}`]),
    `# HELP ${full} ${help}`,
    ...samples.map(([labels, value]) => `${full}${labelsText(labels)} ${value}`),
  ]
}

function labelsText(labels: Sample[0]): string {
  const escaped = (text: string) => text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}
