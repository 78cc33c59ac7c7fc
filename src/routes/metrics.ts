import { callerOf } from '../http/caller.ts'
import { endpoint } from '../http/endpoint.ts'
import { operation, route } from '../openapi/contract.ts'
import { READING } from '../openapi/problems.ts'
import { metricsText, OPEN_METRICS } from '../status/metrics.ts'

const readMetrics = route('get', '/v1/metrics', 'read')

export const readMetricsContract = () =>
  operation(readMetrics, {
    id: 'metrics',
    tag: 'Operating',
    summary: 'Get the metrics',
    description:
      'For Prometheus and other monitors, in the OpenMetrics text format: totals of types and of the prefixes that they list, pending slots, and seconds behind.',
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
# EOF
`,
      },
    },
  })

export const metrics = endpoint<typeof readMetricsContract>(readMetrics, async (c) =>
  c.body(await metricsText(callerOf(c), new Date()), 200, {
    'Content-Type': `${OPEN_METRICS}; version=1.0.0; charset=utf-8`,
    'Cache-Control': 'no-store',
  }),
)
