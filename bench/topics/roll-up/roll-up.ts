import { PLANS } from '../../../src/plans.ts'
import { barChart, lineChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { IDLE, IDLE_PENDING, idlePoints, measureAmongIdle } from './idle-counters.ts'
import { number } from './request-roll-up.ts'
import {
  byMethod,
  byPending,
  HOT,
  HOT_SQL,
  PENDING,
  pendingName,
  ROLL_UP,
  SINGLE,
  SINGLE_SQL,
  SQL,
  SQL_TOTALS,
} from './throughput-variants.ts'
import { ALONE, DURING, DURING_SQL, duringRollUps, WRITER_LOAD } from './writer-variants.ts'

/** The cost of rolling up, and its effect on writers. */
const { maxStatements, pageSlots } = PLANS.paid.rollUp

export const rollUp: Topic = {
  name: 'roll-up',
  title: 'How much does rolling up cost, and does it slow writers down?',
  text:
    `\`POST /v1/rollup\` with up to ${number(maxStatements)} statements. Pages have ${number(pageSlots)} slots. The baseline is hand-written SQL in one transaction on the ` +
    'server: INSERT … SELECT … GROUP BY into the same tables, and an UPDATE of the slots. Afterwards, totals and every period must hold each pending count exactly once. ' +
    `Writers have ${WRITER_LOAD}. During their load, roll-ups run without a pause; in production, one runs each minute.`,
  variants: [...byMethod, ...byPending, ...duringRollUps],
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
      target: { atLeast: 0.75 },
    },
    {
      label: 'slots/s: the same, 1 slot per counter',
      figure: 'rowsPerSecond',
      of: SINGLE,
      to: SINGLE_SQL,
      target: { atLeast: 0.75 },
    },
    {
      label: 'slots/s: the same, 1,000 slots per counter',
      figure: 'rowsPerSecond',
      of: HOT,
      to: HOT_SQL,
      target: { atLeast: 0.75 },
    },
    {
      label: 'slots/s: roll-up vs. hand-written SQL for totals only',
      figure: 'rowsPerSecond',
      of: ROLL_UP,
      to: SQL_TOTALS,
    },
    {
      label: 'writers’ p99: during roll-ups vs. alone',
      figure: 'p99Ms',
      of: DURING,
      to: ALONE,
      target: { atMost: 1.1 },
    },
    {
      label: 'writers’ p99: during hand-written SQL vs. alone',
      figure: 'p99Ms',
      of: DURING_SQL,
      to: ALONE,
    },
  ],
  charts({ runs, tables }) {
    return [
      barChart({
        name: 'roll-up',
        alt: 'Slots moved per second by the roll-up and by hand-written SQL',
        points: pointsOf(byMethod, runs, 'rowsPerSecond'),
        series: { field: 'way', title: 'moved by' },
        category: 'spread',
        y: { title: 'slots/s' },
      }),
      lineChart({
        name: 'roll-up-pending',
        alt: 'Duration of a roll-up by number of pending slots',
        points: pointsOf(byPending, runs, 'milliseconds'),
        series: { field: 'way', title: 'moved by' },
        x: { field: 'slots', title: 'pending slots', log: true, values: PENDING },
        y: { title: 'ms', log: true },
      }),
      lineChart({
        name: 'roll-up-idle',
        alt: 'Duration of a roll-up of the same slots by number of idle counters',
        points: idlePoints(tables),
        series: { field: 'way', title: 'moved by' },
        x: { field: 'slots', title: 'idle counters', log: true, values: IDLE.slice(1) },
        y: { title: `ms for ${number(IDLE_PENDING)} slots` },
      }),
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
    const largest = PENDING.at(-1)!
    const statements = medianOf(runs, pendingName(largest), 'statements')
    const perSecond = (variant: string) => rounded(medianOf(runs, variant, 'perSecond'))
    const p99 = (variant: string) => rounded(medianOf(runs, variant, 'p99Ms'))
    return [
      `A roll-up moves ${rounded(rate)} slots/s, ${rounded(rate / medianOf(runs, SQL, 'rowsPerSecond'))} of the rate of hand-written SQL, with about ` +
        `${Math.round(statements / (largest / 1_000))} statements for 1,000 slots. ${number(largest)} pending slots took ${rounded(medianOf(runs, pendingName(largest), 'milliseconds') / 1_000)} s and ${rounded(statements)} statements.`,
      `The p99 of writers is ${p99(ALONE)} ms alone, and ${p99(DURING)} ms during roll-ups.`,
      `Do not roll up in one big transaction: writers wait for its locks. They count ${perSecond(DURING_SQL)} hits/s during it, and ${perSecond(DURING)} during roll-ups.`,
    ]
  },
  once: async (testbed, _, rounds) => [await measureAmongIdle(testbed, rounds)],
}
