import type { CounterType } from '../config/counter-types.ts'
import { TooManyKeys } from '../counters/keys/prefix.ts'
import { MAX_COUNTED } from '../counters/rollup/roll-up.ts'
import { endpoint } from '../http/endpoint.ts'
import { operation, route } from '../openapi/contract.ts'
import { READING } from '../openapi/problems.ts'
import type { Caller } from '../service/caller.ts'
import { readSum } from '../service/read.ts'
import { readStatus, type Status } from '../service/status.ts'
import { CAUGHT_UP } from './status.ts'

/** The media type of OpenMetrics 1.0. */
const OPEN_METRICS = 'application/openmetrics-text'

const metricsRoute = route('get', '/v1/metrics', 'read')

export const readMetricsContract = () =>
  operation(metricsRoute, {
    id: 'metrics',
    tag: 'Operating',
    summary: 'Get the metrics',
    description:
      'For Prometheus and other monitors, in the OpenMetrics text format: totals of types and of the prefixes that they list, and the status.',
    answers: { 200: { description: 'The metrics.', contentType: OPEN_METRICS } },
    problems: [...READING],
    examples: {
      metrics: {
        summary: 'One type with a prefix',
        answer: metricsText(CAUGHT_UP, [
          [{ type: 'download' }, 218],
          [{ type: 'download', prefix: 'app-' }, 15],
        ]),
      },
    },
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
 * The counts and the status in the text format of OpenMetrics 1.0
 * (https://prometheus.io/docs/specs/om/open_metrics_spec/). Totals are gauges, because corrections lower
 * them, and are as of the last roll-up, so that they never fall back while very much is pending. Prefixes have a metric of their
 * own: adding up all samples of one counts nothing twice. What the status does not know has no sample.
 */
function metricsText(status: Status, sums: readonly Sample[]): string {
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
    ...family('pending_slots', `Slots that wait for the roll-up, up to ${MAX_COUNTED}.`, known(pendingSlots)),
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
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')
}
