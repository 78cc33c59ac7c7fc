import { UNHURRIED_SLOTS } from '../../src/counters/rollup.ts'
import { barChart, lineChart } from '../report/chart.ts'
import { about, medianOf, pointsOf } from '../report/points.ts'
import type { Topic } from '../topic.ts'
import { amongIdle, IDLE, IDLE_PENDING, idlePoints } from './roll-up-idle.ts'
import {
  BY_HAND,
  BY_HAND_TOTALS,
  byPending,
  HURRIED,
  moves,
  PENDING,
  pendingName,
  ROLL_UP,
  SINGLE,
  SINGLE_BY_HAND,
} from './roll-up-moves.ts'
import { number, SETTINGS } from './roll-up-service.ts'
import { ALONE, BESIDE, BESIDE_BY_HAND, BESIDE_HURRIED, besides, CIRCUMSTANCES } from './roll-up-writers.ts'

/** What rolling up costs, and whom. */
export const rollUp: Topic = {
  name: 'roll-up',
  title: 'What does rolling up cost, and do writers feel it?',
  text:
    `\`POST /v1/rollup\` on the paid plan (\`max_statements\` ${number(SETTINGS.ROLLUP.max_statements)}): pages of ${number(UNHURRIED_SLOTS)} slots, and of ${number(SETTINGS.ROLLUP.page_slots)} in a hurry, which is when the run before did not get to the end. Against what one would write by hand with all of SQL: INSERT … SELECT … GROUP BY into the same ` +
    'tables and an UPDATE of the slots, in one transaction on the server itself, no row leaving it. Both are warmed up with as much, and checked afterwards: totals and every ' +
    'period hold what was pending, once. Then the number of pending slots varies, then that of counters without any. Memory is what workerd grows by at most. Writers: ' +
    `${CIRCUMSTANCES}, and roll-ups one after the other for all of the time, where the service does one a minute. No latency is added in the other tables. ` +
    'MySQL is told to write its log by threads of its own (`innodb_log_writer_threads`), as 8.0 does by itself, and so PlanetScale: left off, as later versions leave it on small ' +
    'machines, one run in five beside roll-ups had a 99th percentile of 85 to 110 ms, because a commit beside large statements now and then waits 100 ms for nothing (DESIGN.md).',
  logWriterThreads: true,
  variants: [...moves, ...byPending, ...besides],
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
      says: 'slots moved/s: the roll-up against the statements by hand',
      figure: 'rowsPerSecond',
      of: ROLL_UP,
      to: BY_HAND,
      target: { atLeast: 0.5 },
    },
    {
      says: 'slots moved/s: the same with one slot of each counter',
      figure: 'rowsPerSecond',
      of: SINGLE,
      to: SINGLE_BY_HAND,
      target: { atLeast: 0.5 },
    },
    {
      says: 'slots moved/s: the roll-up in a hurry against the statements by hand',
      figure: 'rowsPerSecond',
      of: HURRIED,
      to: BY_HAND,
      target: { atLeast: 0.5 },
    },
    {
      says: 'slots moved/s: the roll-up against totals only by hand',
      figure: 'rowsPerSecond',
      of: ROLL_UP,
      to: BY_HAND_TOTALS,
    },
    {
      says: 'writers’ 99th percentile ms: beside a roll-up against alone',
      figure: 'p99Ms',
      of: BESIDE,
      to: ALONE,
      target: { atMost: 1.2 },
    },
    {
      says: 'writers’ 99th percentile ms: beside a roll-up in a hurry against alone',
      figure: 'p99Ms',
      of: BESIDE_HURRIED,
      to: ALONE,
    },
    {
      says: 'writers’ 99th percentile ms: beside the statements by hand against alone',
      figure: 'p99Ms',
      of: BESIDE_BY_HAND,
      to: ALONE,
    },
  ],
  charts({ runs, tables }) {
    return [
      barChart({
        name: 'roll-up',
        alt: 'Slots moved per second, by the roll-up and by statements written by hand',
        points: pointsOf(moves, runs, 'rowsPerSecond'),
        series: { field: 'way', title: 'moved by' },
        category: 'spread',
        y: { title: 'slots moved/s' },
      }),
      lineChart({
        name: 'roll-up-pending',
        alt: 'Time of a roll-up by number of pending slots',
        points: pointsOf(byPending, runs, 'milliseconds'),
        series: { field: 'way', title: 'moved by' },
        x: { field: 'slots', title: 'pending slots', log: true, values: PENDING },
        y: { title: 'ms', log: true },
      }),
      lineChart({
        name: 'roll-up-idle',
        alt: 'Time of a roll-up of the same slots by number of other counters',
        points: idlePoints(tables),
        series: { field: 'way', title: 'moved by' },
        x: { field: 'slots', title: 'counters that nobody counts', log: true, values: IDLE.slice(1) },
        y: { title: `ms for ${number(IDLE_PENDING)} slots` },
      }),
      barChart({
        name: 'roll-up-writers',
        alt: 'Writers’ 99th percentile with and without a roll-up beside them',
        points: pointsOf(besides, runs, 'p99Ms'),
        series: { field: 'way', title: '' },
        category: 'way',
        y: { title: '99th percentile of POST /hit, ms', log: true },
      }),
    ]
  },
  findings({ runs }) {
    const rate = medianOf(runs, ROLL_UP, 'rowsPerSecond')
    const largest = PENDING.at(-1)!
    const statements = medianOf(runs, pendingName(largest), 'statements')
    const p99 = (variant: string) => about(medianOf(runs, variant, 'p99Ms'))
    return [
      `A roll-up moves ${about(rate)} slots/s, ${about(rate / medianOf(runs, BY_HAND, 'rowsPerSecond'))} of what SQL by hand does for equal work, with about ` +
        `${Math.round(statements / (largest / 1_000))} statements for each 1,000 slots: where many counters are busy, raise \`ROLLUP.max_statements\` (${number(largest)} pending ` +
        `slots took ${about(medianOf(runs, pendingName(largest), 'milliseconds') / 1_000)} s and ${about(statements)} statements).`,
      `Let it run as often as you like beside writers, and do not roll up by hand: their 99th percentile is ${p99(ALONE)} ms alone, ${p99(BESIDE)} ms beside roll-ups one after the ` +
        `other (${p99(BESIDE_HURRIED)} ms in a hurry, \`ROLLUP.page_slots\` being ${number(SETTINGS.ROLLUP.page_slots)}), and ${p99(BESIDE_BY_HAND)} ms beside one big transaction.`,
    ]
  },
  once: async (rig, _, rounds) => [await amongIdle(rig, rounds)],
}
