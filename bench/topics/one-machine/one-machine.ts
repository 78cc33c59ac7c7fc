import type { Figures } from '../../harness/figure-names.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import type { Outcome, Variant } from '../../harness/variant.ts'
import { runWrk } from '../../harness/wrk.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { type Command, LocalCounter } from './local-counter.ts'

const CONNECTIONS = 64
const WARM_UP_SECONDS = 2
/** Enough for what is only compared. */
const START_SECONDS = 5

const SERVE = 'serve'
const START = 'npm start'
const WORKER_KILLED = 'serve, Worker killed'
const ALL_KILLED = 'serve, killed'

async function withCounter<T>(
  testbed: Testbed,
  command: Command,
  work: (counter: LocalCounter, counted: () => Promise<number>) => Promise<T>,
): Promise<T> {
  const server = testbed.server()
  const database = await server.createDatabase()
  try {
    const counter = await LocalCounter.start(testbed, command, database)
    const counted = async () => {
      // In one statement, because a roll-up may be moving slots.
      const [row] = await server.query(
        `SELECT (SELECT COALESCE(SUM(count), 0) FROM \`${database}\`.slotted_counters) +
           (SELECT COALESCE(SUM(count), 0) FROM \`${database}\`.counters) AS sum`,
      )
      return Number(row!.sum)
    }
    return await work(counter, counted).finally(() => counter.stop())
  } finally {
    await server.dropDatabase(database)
  }
}

/** Hits by wrk, the processor time of each, and the memory at their end. */
const underLoad = (command: Command, about: string, most = Number.POSITIVE_INFINITY): Variant => ({
  name: command,
  about,
  measure: (testbed, round, seconds) =>
    withCounter(testbed, command, async (counter, counted) => {
      const { hit: url, headers } = counter
      const load = {
        method: 'POST',
        url,
        headers,
        connections: CONNECTIONS,
        keys: 0,
        order: 'turn',
        seed: round,
      } as const
      const warmUp = await runWrk({ ...load, rampSeconds: 0, seconds: WARM_UP_SECONDS }, testbed.signal)
      const cpuBefore = await counter.cpuMicros()
      const result = await runWrk({ ...load, rampSeconds: 0, seconds: Math.min(seconds, most) }, testbed.signal)
      const cpu = await counter.cpuMicros()
      const memory = await counter.memoryMiB()
      const { answered, perSecond, p50Ms, p99Ms } = result
      const errors = [warmUp, result].flatMap(({ errors }) => Object.values(errors)).reduce((sum, of) => sum + of, 0)
      // The first hit was sent before.
      const [acknowledged, found] = [1 + warmUp.answered + answered, await counted()]
      const isExact = found >= acknowledged && found <= acknowledged + 2 * CONNECTIONS
      const figures: Figures = { answered, perSecond, p50Ms, p99Ms, errors, counted: found }
      if (cpu !== null && cpuBefore !== null) figures.cpuMicros = (cpu - cpuBefore) / answered
      if (memory !== null) figures.memoryMiB = memory
      return {
        figures,
        violations:
          errors === 0 && isExact ? [] : [`${found} hits were counted, ${acknowledged} answered, ${errors} failed`],
      }
    }),
})

/** How long it takes from a kill to the next hit that is counted. */
const killed = (name: string, about: string, kill: (counter: LocalCounter) => Promise<void>): Variant => ({
  name,
  about,
  measure: (testbed): Promise<Outcome> =>
    withCounter(testbed, 'serve', async (counter, counted) => {
      const began = performance.now()
      await kill(counter)
      await counter.untilCounted(testbed.signal)
      const restartMs = performance.now() - began
      const found = await counted()
      return { figures: { restartMs, counted: found }, violations: found === 2 ? [] : [`${found} hits, not 2`] }
    }),
})

/** The counter on one machine, as `slotted-counter serve` runs it. */
export const oneMachine: Topic = {
  name: 'one-machine',
  title: 'And on one machine?',
  text:
    `\`slotted-counter serve\` runs beside its database server. ${CONNECTIONS} connections count one key with \`POST /hit?…\`. CPU time and memory are those of all its processes ` +
    'without the database. Killed: from `kill -9` to the next hit that is counted, without the wait of systemd.',
  missed: 'Node.js receives each hit before workerd does, and knows the visitor’s address.',
  seconds: 30,
  variants: [
    underLoad(SERVE, '`slotted-counter serve`'),
    underLoad(START, '`npm start`: wrangler dev', START_SECONDS),
    killed(WORKER_KILLED, 'workerd gets SIGKILL', (counter) => counter.killWorker()),
    killed(ALL_KILLED, 'the whole process gets SIGKILL, and is started again', (counter) => counter.killAndRestart()),
  ],
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'cpuMicros', 'memoryMiB', 'restartMs'],
  comparisons: [
    { label: 'CPU per hit: serve vs. npm start', figure: 'cpuMicros', of: SERVE, to: START, target: { atMost: 1.2 } },
    { label: 'MiB of memory after half a minute', figure: 'memoryMiB', of: SERVE },
    { label: 'ms from kill to count: Worker', figure: 'restartMs', of: WORKER_KILLED },
    { label: 'ms from kill to count: whole process', figure: 'restartMs', of: ALL_KILLED },
  ],
  findings({ runs }) {
    const of = (figure: 'perSecond' | 'cpuMicros') => rounded(medianOf(runs, SERVE, figure))
    return [`It counts ${of('perSecond')} hits/s, each with ${of('cpuMicros')} µs of CPU time.`]
  },
}
