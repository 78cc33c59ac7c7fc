import type { CounterType } from '../config/counter-types.ts'
import { readRuns } from '../counters/background-runs.ts'
import { TooManyKeys } from '../counters/keys/prefix.ts'
import { readRollUpState } from '../counters/rollup/lease.ts'
import { countPendingSlots, MAX_COUNTED } from '../counters/rollup/roll-up.ts'
import { readVerification } from '../counters/verify/daily-round.ts'
import { endpoint } from '../http/endpoint.ts'
import { operation, route } from '../openapi/contract.ts'
import { READING } from '../openapi/problems.ts'
import type { Caller } from '../service/caller.ts'
import { readSum } from '../service/read.ts'
import { secondsSince } from '../status/report.ts'

/** The media type of OpenMetrics 1.0. */
const OPEN_METRICS = 'application/openmetrics-text'

const readMetrics = route('get', '/v1/metrics', 'read')

export const readMetricsContract = () =>
  operation(readMetrics, {
    id: 'metrics',
    tag: 'Operating',
    summary: 'Get the metrics',
    description:
      'For Prometheus and other monitors, in the OpenMetrics text format: totals of types and of the prefixes that they list, pending slots, seconds behind, mismatches, and dead batches.',
    answers: { 200: { description: 'The metrics.', contentType: OPEN_METRICS } },
    problems: [...READING],
    examples: {
      metrics: {
        summary: 'One type with a prefix',
        answer: `# TYPE slotted_counter_type_counts gauge
# HELP slotted_counter_type_counts Sum of the counters of a type.
slotted_counter_type_counts{type="download"} 218
# TYPE slotted_counter_prefix_counts gauge
# HELP slotted_counter_prefix_counts Sum of the counters whose keys begin with a prefix.
slotted_counter_prefix_counts{type="download",prefix="app-"} 15
# TYPE slotted_counter_pending_slots gauge
# HELP slotted_counter_pending_slots Slots that wait for the roll-up, up to 10000.
slotted_counter_pending_slots 3
# TYPE slotted_counter_behind_seconds gauge
# UNIT slotted_counter_behind_seconds seconds
# HELP slotted_counter_behind_seconds Time since a roll-up left nothing pending.
slotted_counter_behind_seconds 4
# TYPE slotted_counter_mismatches gauge
# HELP slotted_counter_mismatches Sums that the last verification found wrong, up to 10.
slotted_counter_mismatches 0
# TYPE slotted_counter_dead_batches gauge
# HELP slotted_counter_dead_batches Batches of the queue that could not be counted.
slotted_counter_dead_batches 0
# EOF
`,
      },
    },
  })

export const metrics = endpoint<typeof readMetricsContract>(readMetrics, async (c, { caller }) =>
  c.body(await metricsText(caller, new Date()), 200, {
    'Content-Type': `${OPEN_METRICS}; version=1.0.0; charset=utf-8`,
    'Cache-Control': 'no-store',
  }),
)

type Sample = [labels: Record<string, string>, value: bigint | number]

/**
 * The state of the Worker in the text format of OpenMetrics 1.0
 * (https://prometheus.io/docs/specs/om/open_metrics_spec/). Totals are gauges, because corrections lower
 * them, and are as of the last roll-up, so that they never fall back while very much is pending. Prefixes have a metric of their
 * own: adding up all samples of one counts nothing twice.
 * @throws {DatabaseFailure | Overloaded}
 */
async function metricsText(caller: Caller, now: Date): Promise<string> {
  const [state, verification, { deadBatches }, pending, ofTypes, ofPrefixes] = await Promise.all([
    readRollUpState(caller.db),
    readVerification(caller.db),
    readRuns(caller.db),
    countPendingSlots(caller.db),
    sumSamples(caller, () => [null]),
    sumSamples(caller, ({ prefixes }) => prefixes),
  ])
  const caughtUpAt = state?.caughtUpAt ?? null
  const { agreedAt, found } = verification
  return [
    ...family('type_counts', 'Sum of the counters of a type.', ofTypes),
    ...family('prefix_counts', 'Sum of the counters whose keys begin with a prefix.', ofPrefixes),
    ...family('pending_slots', `Slots that wait for the roll-up, up to ${MAX_COUNTED}.`, [[{}, pending]]),
    ...family(
      'behind_seconds',
      'Time since a roll-up left nothing pending.',
      caughtUpAt === null ? [] : [[{}, secondsSince(caughtUpAt, now)]],
      'seconds',
    ),
    ...family(
      'mismatches',
      'Sums that the last verification found wrong, up to 10.',
      agreedAt === null && found.length === 0 ? [] : [[{}, found.length]],
    ),
    ...family('dead_batches', 'Batches of the queue that could not be counted.', [[{}, deadBatches.count]]),
    '# EOF\n',
  ].join('\n')
}

/** The sums of some prefixes of each type; `null`: of the whole type. Those with too many keys are left out. */
async function sumSamples(
  caller: Caller,
  prefixesOf: (type: CounterType) => readonly (string | null)[],
): Promise<Sample[]> {
  const types = [...caller.isolate.config.types.values()]
  const asked = types.flatMap((type) => prefixesOf(type).map((prefix) => ({ type, prefix })))
  const samples = asked.map(async ({ type, prefix }): Promise<Sample[]> => {
    try {
      const { reading } = await readSum(caller, type, prefix, 'rolled')
      return [[{ type: type.name, ...(prefix !== null && { prefix }) }, reading.total]]
    } catch (error) {
      if (error instanceof TooManyKeys) return []
      throw error
    }
  })
  return (await Promise.all(samples)).flat()
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
