import { PLANS } from '../../../src/plans.ts'
import { barChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { judge } from '../../report/comparison.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { number } from './request-roll-up.ts'
import {
  BACKLOG,
  BACKLOG_ROLL_UP,
  byMethod,
  HOT,
  HOT_SQL,
  ofBacklog,
  ROLL_UP,
  SINGLE,
  SINGLE_SQL,
  SQL,
} from './throughput-variants.ts'
import { ALONE, DURING, DURING_SQL, duringRollUps, WRITER_LOAD } from './writer-variants.ts'

/** The cost of rolling up, and its effect on writers. */
const { maxStatements, pageSlots } = PLANS.paid.rollUp

export const rollUp: Topic = {
  name: 'roll-up',
  title: 'How much does rolling up cost, and does it slow writers down?',
  text:
    `\`POST /v1/rollup\` may take ${number(maxStatements)} statements, and moves pages of ${number(pageSlots)} slots. The baseline is hand-written SQL in one transaction on the ` +
    'server: INSERT … SELECT … GROUP BY into the same tables, and an UPDATE of the slots. ' +
    `Writers have ${WRITER_LOAD}. While they write, roll-ups run without a pause; in production, one runs each minute.`,
  missed:
    'The server alone takes longer than the target allows. Subtracting what was read costs more than setting slots to 0, which is not exact while others ' +
    'write. Writers wait for no row, but share the CPUs with the roll-up ([notes](notes.md#rolling-up)).',
  variants: [...byMethod, ofBacklog, ...duringRollUps],
  columns: [
    'rows',
    'rowsPerSecond',
    'milliseconds',
    'statements',
    'peakMiB',
    'perSecond',
    'p50Ms',
    'p99Ms',
    'lockWaitsPer1000',
  ],
  comparisons: [
    {
      label: 'slots/s: roll-up vs. hand-written SQL',
      figure: 'rowsPerSecond',
      of: ROLL_UP,
      to: SQL,
      target: { atLeast: 0.45 },
    },
    {
      label: 'slots/s: the same, 1 slot per counter',
      figure: 'rowsPerSecond',
      of: SINGLE,
      to: SINGLE_SQL,
      target: { atLeast: 0.45 },
    },
    {
      label: 'slots/s: the same, 1,000 slots per counter',
      figure: 'rowsPerSecond',
      of: HOT,
      to: HOT_SQL,
      target: { atLeast: 0.45 },
    },
    {
      label: 'writers’ p99: during roll-ups vs. alone',
      figure: 'p99Ms',
      of: DURING,
      to: ALONE,
      target: { atMost: 1.3 },
    },
  ],
  charts({ runs }) {
    return [
      barChart({
        name: 'roll-up-writers',
        alt: 'p99 latency of writers alone and during roll-ups',
        points: pointsOf(duringRollUps, runs, 'p99Ms'),
        series: { field: 'way', title: '' },
        category: 'way',
        y: { title: 'p99 of POST /hit, ms', log: true },
      }),
    ]
  },
  findings({ runs }) {
    const rate = medianOf(runs, ROLL_UP, 'rowsPerSecond')
    const statements = medianOf(runs, BACKLOG_ROLL_UP, 'statements')
    const perSecond = (variant: string) => rounded(medianOf(runs, variant, 'perSecond'))
    return [
      `A roll-up moves ${rounded(rate)} slots/s, ${rounded(judge({ label: '', figure: 'rowsPerSecond', of: ROLL_UP, to: SQL }, runs).median)} times the rate of hand-written SQL, with about ` +
        `${Math.round(statements / (BACKLOG / 1_000))} statements for 1,000 slots. ${number(BACKLOG)} pending slots took ${rounded(medianOf(runs, BACKLOG_ROLL_UP, 'milliseconds') / 1_000)} s and ${rounded(statements)} statements.`,
      `Do not roll up in one big transaction: writers wait for its locks. They count ${perSecond(DURING_SQL)} hits/s during that transaction, and ${perSecond(DURING)} during roll-ups.`,
    ]
  },
}
