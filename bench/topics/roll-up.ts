import { fillSlots, multiplyIdle } from '../harness/fill.ts'
import { measureLoad } from '../harness/load.ts'
import { watchMemory } from '../harness/process-cost.ts'
import type { Rig } from '../harness/rig.ts'
import { type Service, type ServiceOptions, TOKEN, withService } from '../harness/service.ts'
import { barChart, lineChart } from '../report/chart.ts'
import { median } from '../report/comparison.ts'
import { about, medianOf, type Point, pointsOf } from '../report/points.ts'
import type { Figures, Outcome, Table, Topic, Variant } from '../topic.ts'
import { type HandWritten, rollUpByHand } from './roll-up-by-hand.ts'

/** The paid plan's, so that a run is bounded by what there is to do. */
const SETTINGS = { ROLLUP: { page_slots: 2_000, max_statements: 10_000, max_seconds: 50 } }
const SERVICE: ServiceOptions = { worker: 'product', settings: SETTINGS }
const SLOTS = 20_000
const SLOTS_EACH = 10
const PENDING = [100, 1_000, 10_000, 100_000]
const IDLE = [0, 10_000, 100_000, 1_000_000]
const IDLE_PENDING = 1_000
/** More than the roll-ups get done while writers are measured beside them. */
const BACKLOG = 60_000
const WRITER_KEYS = 1_000
const WRITER_CONNECTIONS = 16
const WRITER_BEHAVIOUR = { commitMs: 2, latencyMs: 5 }

const ROLL_UP = 'roll-up'
const BY_HAND = 'by hand'
const BY_HAND_TOTALS = 'by hand, totals only'
const SINGLE = 'roll-up, a slot each'
const SINGLE_BY_HAND = 'by hand, a slot each'
const ALONE = 'writers alone'
const BESIDE = 'writers beside a roll-up'
const BESIDE_BY_HAND = 'writers beside the statements by hand'
const IDLE_TITLE = 'By number of counters that nobody counts'

const number = (value: number) => value.toLocaleString('en-US')
const pendingName = (slots: number) => `roll-up, ${number(slots)} pending`

interface Summary {
  outcome: string
  moved: number
  statements: number
}

/** Asks a Worker to roll up everything. */
async function askToRollUp(url: string, signal: AbortSignal): Promise<Summary> {
  const response = await fetch(`${url}/v1/rollup`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}` },
    signal,
  })
  if (!response.ok) throw new Error(`POST /v1/rollup: ${response.status} ${await response.text()}`)
  return (await response.json()) as Summary
}

/** Moves so many slots, after having moved as many before to warm up, and looks where they went. */
async function moveSlots(rig: Rig, slots: number, slotsEach: number, by: HandWritten | 'product'): Promise<Outcome> {
  return withService(rig, SERVICE, async (service) => {
    const { server, database, url, pid } = service
    await fillSlots(service, { counters: slots / slotsEach, slotsEach })
    const move = async () => (by === 'product' ? askToRollUp(url, rig.signal) : void (await rollUpByHand(service, by)))
    await move()
    await server.query(`UPDATE \`${database}\`.slotted_counters SET count = 1`)
    const memory = await watchMemory(pid)
    const began = performance.now()
    const summary = await move()
    const milliseconds = performance.now() - began
    const figures: Figures = { rows: slots, milliseconds, rowsPerSecond: (slots / milliseconds) * 1_000 }
    if (summary) {
      figures.statements = summary.statements
      const peakMiB = await memory()
      if (peakMiB !== null) figures.peakMiB = peakMiB
    }
    return { figures, violations: await misplaced(service, 2 * slots, by !== 'totals only') }
  })
}

/** Whether everything that was moved is where it belongs, once. */
async function misplaced({ server, database, sum }: Service, moved: number, history: boolean): Promise<string[]> {
  const wrong: string[] = []
  const see = (what: string, found: number, right: number) => {
    if (found !== right) wrong.push(`${what} hold ${found} instead of ${right}`)
  }
  see('slots', await sum('slotted_counters'), 0)
  see('totals', await sum('counter_totals'), moved)
  if (!history) return wrong
  for (const [table, periods] of [
    ['counter_history', 1],
    ['counter_periods', 3],
    ['type_history', 4],
  ] as const) {
    const [row] = await server.query(`SELECT SUM(count) AS sum FROM \`${database}\`.${table}`)
    see(table, Number(row!.sum), periods * moved)
  }
  return wrong
}

const moving = (name: string, about: string, slotsEach: number, by: HandWritten | 'product'): Variant => ({
  name,
  about,
  table: `${number(SLOTS)} pending slots`,
  axes: {
    way: name.startsWith('roll-up') ? 'roll-up' : name.includes('totals') ? BY_HAND_TOTALS : BY_HAND,
    spread: slotsEach === 1 ? 'one slot of each counter' : `${slotsEach} slots of each counter`,
  },
  measure: (rig) => moveSlots(rig, SLOTS, slotsEach, by),
})

const HISTORY = 'totals, hours, days, weeks, months, and the history of the type'
const moves = [
  moving(ROLL_UP, `the product, ${SLOTS_EACH} slots of each counter`, SLOTS_EACH, 'product'),
  moving(BY_HAND, `one transaction of INSERT … SELECT: ${HISTORY}`, SLOTS_EACH, 'equal work'),
  moving(BY_HAND_TOTALS, 'the same without any history', SLOTS_EACH, 'totals only'),
  moving(SINGLE, 'the product, one slot of each counter', 1, 'product'),
  moving(SINGLE_BY_HAND, 'one transaction of INSERT … SELECT, one slot of each counter', 1, 'equal work'),
]

const byPending: Variant[] = PENDING.map((slots) => ({
  name: pendingName(slots),
  about: `the product, ${SLOTS_EACH} slots of each counter`,
  table: 'By number of pending slots',
  axes: { slots, way: 'roll-up' },
  measure: (rig) => moveSlots(rig, slots, SLOTS_EACH, 'product'),
}))

/** Writers of many keys, with something beside them that rolls up again and again. */
const writers = (
  name: string,
  about: string,
  beside?: (service: Service, over: () => boolean, signal: AbortSignal) => Promise<void>,
): Variant => ({
  name,
  about,
  table: 'Writers while something is rolled up',
  axes: { way: name },
  measure: (rig, round, seconds) =>
    withService(rig, { ...SERVICE, behaviour: WRITER_BEHAVIOUR }, async (service) => {
      const { server, database, url } = service
      await fillSlots(service, { counters: BACKLOG / SLOTS_EACH, slotsEach: SLOTS_EACH })
      const count = async () => {
        // In one statement, because a roll-up may be moving something.
        const [row] = await server.query(
          `SELECT (SELECT COALESCE(SUM(count), 0) FROM \`${database}\`.slotted_counters) +
             (SELECT COALESCE(SUM(count), 0) FROM \`${database}\`.counter_totals) AS sum`,
        )
        return Number(row!.sum) - BACKLOG
      }
      return measureLoad(rig, service, {
        load: {
          method: 'POST',
          url: `${url}/hit`,
          connections: WRITER_CONNECTIONS,
          keys: WRITER_KEYS,
          seed: round,
          rampSeconds: 0,
          seconds,
        },
        warmUpSeconds: 2,
        warmUpConnections: WRITER_CONNECTIONS,
        count,
        ...(beside && { beside: (over) => beside(service, over, rig.signal) }),
      })
    }),
})

const besides = [
  writers(ALONE, '`POST /hit`, nothing beside'),
  writers(BESIDE, 'roll-ups one after the other, by a Worker of their own', async (service, over, signal) => {
    const { url } = await service.startAnother()
    while (!over()) await askToRollUp(url, signal)
  }),
  writers(BESIDE_BY_HAND, 'the statements by hand one after the other', async (service, over) => {
    while (!over()) await rollUpByHand(service, 'equal work', over)
  }),
]

/** Rolls up as much beside more and more counters that nobody counts any more, in one database that grows. */
async function amongIdle(rig: Rig, rounds: number): Promise<Table> {
  const rows = await withService(rig, SERVICE, async (service) => {
    const { server, database, url } = service
    const rows: string[][] = []
    // Apart from all others, whose record ids are counted from 1.
    const apart = (counter: number) => BigInt(2 * IDLE.at(-1)! + counter)
    await fillSlots(service, { counters: IDLE_PENDING / SLOTS_EACH, slotsEach: SLOTS_EACH, idOf: apart })
    await askToRollUp(url, rig.signal)
    for (const idle of IDLE) {
      rig.signal.throwIfAborted()
      rig.say(`roll-up  among ${number(idle)} counters that nobody counts …`)
      if (idle === IDLE[1]) {
        await fillSlots(service, { counters: idle, slotsEach: 1 })
        await askToRollUp(url, rig.signal)
      } else if (idle > 0) await multiplyIdle(service, idle / 10)
      const times: number[] = []
      let statements = 0
      for (let round = 0; round < rounds; round++) {
        await server.query(
          `UPDATE \`${database}\`.slotted_counters SET count = 1 WHERE record_type = 1 AND record_id >= ?`,
          [2 * IDLE.at(-1)!],
        )
        const began = performance.now()
        statements = (await askToRollUp(url, rig.signal)).statements
        times.push(performance.now() - began)
      }
      rows.push(
        [idle, median(times).toFixed(1), Math.min(...times).toFixed(1), Math.max(...times).toFixed(1), statements].map(
          String,
        ),
      )
    }
    return rows
  })
  return {
    title: IDLE_TITLE,
    text:
      `${number(IDLE_PENDING)} slots of ${number(IDLE_PENDING / SLOTS_EACH)} counters are rolled up ${rounds} times beside others that have totals and empty slots. One ` +
      'database that grows, and one workerd.',
    headings: ['idle counters', 'median ms', 'least', 'most', 'statements'],
    rows,
  }
}

/** What rolling up costs, and whom. */
export const rollUp: Topic = {
  name: 'roll-up',
  title: 'What does rolling up cost, and do writers feel it?',
  text:
    `\`POST /v1/rollup\` with pages of ${number(SETTINGS.ROLLUP.page_slots)} slots, against what one would write by hand with all of SQL: INSERT … SELECT … GROUP BY into the same ` +
    'tables and an UPDATE of the slots, in one transaction on the server itself, no row leaving it. Both are warmed up with as much, and checked afterwards: totals and every ' +
    'period hold what was pending, once. Then the number of pending slots varies, then that of counters without any. Memory is what workerd grows by at most. Writers: ' +
    `${WRITER_CONNECTIONS} connections, ${number(WRITER_KEYS)} keys, ${WRITER_BEHAVIOUR.latencyMs} ms of network, ${WRITER_BEHAVIOUR.commitMs} ms per commit, a backlog of ${number(BACKLOG)} slots of other ` +
    'counters, and roll-ups one after the other for all of the time, where the service does one a minute. No latency is added in the other tables.',
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
      says: 'writers’ 99th percentile ms: beside the statements by hand against alone',
      figure: 'p99Ms',
      of: BESIDE_BY_HAND,
      to: ALONE,
    },
  ],
  charts({ runs, tables }) {
    const idle = tables.find(({ title }) => title === IDLE_TITLE)
    const idlePoints = (idle?.rows ?? []).flatMap((row): Point[] => {
      const [slots, median, low, high] = row.map(Number) as [number, number, number, number]
      return slots === 0 ? [] : [{ variant: '', way: 'roll-up', slots, median, low, high }]
    })
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
      ...(idlePoints.length === 0
        ? []
        : [
            lineChart({
              name: 'roll-up-idle',
              alt: 'Time of a roll-up of the same slots by number of other counters',
              points: idlePoints,
              series: { field: 'way', title: 'moved by' },
              x: { field: 'slots', title: 'counters that nobody counts', log: true, values: IDLE.slice(1) },
              y: { title: `ms for ${number(IDLE_PENDING)} slots` },
            }),
          ]),
      barChart({
        name: 'roll-up-writers',
        alt: 'Writers’ 99th percentile with and without a roll-up beside them',
        points: pointsOf(besides, runs, 'p99Ms'),
        series: { field: 'way', title: '' },
        category: 'way',
        y: { title: '99th percentile of POST /hit, ms' },
      }),
    ]
  },
  findings({ runs }) {
    const rate = medianOf(runs, ROLL_UP, 'rowsPerSecond')
    const largest = PENDING.at(-1)!
    const statements = medianOf(runs, pendingName(largest), 'statements')
    const pageSlots = SETTINGS.ROLLUP.page_slots
    const p99 = (variant: string) => about(medianOf(runs, variant, 'p99Ms'))
    return [
      `A roll-up moves ${about(rate)} slots/s, ${about(rate / medianOf(runs, BY_HAND, 'rowsPerSecond'))} of what SQL by hand does for equal work, with about ` +
        `${Math.round(statements / (largest / pageSlots))} statements for each ${number(pageSlots)} slots: where many counters are busy, raise \`ROLLUP.max_statements\` (${number(largest)} pending ` +
        `slots took ${about(medianOf(runs, pendingName(largest), 'milliseconds') / 1_000)} s and ${about(statements)} statements).`,
      `Let it run as often as you like beside writers, and do not roll up by hand: their 99th percentile is ${p99(ALONE)} ms alone, ${p99(BESIDE)} ms beside roll-ups one after the ` +
        `other, and ${p99(BESIDE_BY_HAND)} ms beside one big transaction.`,
    ]
  },
  once: async (rig, _, rounds) => [await amongIdle(rig, rounds)],
}
