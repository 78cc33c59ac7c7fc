import type { Outcome, Run, Variant } from '../../harness/variant.ts'
import { type Chart, lineChart } from '../../report/chart.ts'
import { pointsOf } from '../../report/chart-points.ts'
import { medianOf } from '../../report/medians.ts'
import { runRollUp } from '../../simulation/run-simulation.ts'
import type { RollUpLoad } from '../../simulation/simulate-roll-up.ts'
import { COMMIT_MS, SHARDS, shardsOf } from './loads.ts'
import { measuredCosts } from './simulated-figures.ts'

const SLOTS = [1_000, 10_000, 100_000]
/** Where the most is measured: rates are taken from there. */
export const MOST_SLOTS = SLOTS.at(-1)!
const SLOTS_EACH = 2
const NEAR_MS = 5
const FAR_MS = 50
const PROCESSORS = 8

const numberOf = (number: number) => number.toLocaleString('en-US')

/** The name of a variant that rolls up. */
export const rollUpName = (slots: number, shards: number, roundTripMs = NEAR_MS) =>
  `${numberOf(slots)} slots, ${shardsOf(shards)}${roundTripMs === NEAR_MS ? '' : `, ${roundTripMs} ms away`}`
export const pruningName = (shards: number) => `prune ${numberOf(MOST_SLOTS)} slots, ${shardsOf(shards)}`

function variantOf(
  name: string,
  about: string,
  slots: number,
  shards: number,
  change: Partial<RollUpLoad>,
  axes?: Record<string, string | number>,
): Variant {
  const load: RollUpLoad = {
    pendingSlots: slots,
    counters: slots / SLOTS_EACH,
    ranges: shards,
    server: { shards, processors: PROCESSORS, commitMs: COMMIT_MS },
    roundTripMs: NEAR_MS,
    pruning: false,
    ...change,
  }
  return {
    name,
    about,
    ...(axes && { axes }),
    async measure({ signal }, round): Promise<Outcome> {
      const figures = await runRollUp({ load, costs: await measuredCosts(), seed: round }, signal)
      const { seconds, statements, processorSeconds } = figures
      return {
        figures: {
          rows: figures.slots,
          milliseconds: seconds * 1_000,
          rowsPerSecond: figures.slots / seconds,
          statements,
          processorSeconds,
        },
        violations: figures.slots < slots ? [`only ${figures.slots} slots were done`] : [],
      }
    },
  }
}

const byShards = SHARDS.flatMap((shards) =>
  SLOTS.map((slots) =>
    variantOf(rollUpName(slots, shards), `${NEAR_MS} ms away`, slots, shards, {}, { shards: shardsOf(shards), slots }),
  ),
)

/** The roll-up and pruning on shards. */
export const backgroundVariants: Variant[] = [
  ...byShards,
  ...SHARDS.flatMap((shards) => [
    variantOf(rollUpName(MOST_SLOTS, shards, FAR_MS), 'a cron far from the database', MOST_SLOTS, shards, {
      roundTripMs: FAR_MS,
    }),
    variantOf(pruningName(shards), 'deletes empty slots', MOST_SLOTS, shards, { pruning: true }),
  ]),
]

export const rollUpChart = (runs: readonly Run[]): Chart =>
  lineChart({
    name: 'scale-roll-up',
    alt: 'Milliseconds of a roll-up by pending slots',
    points: pointsOf(byShards, runs, 'milliseconds'),
    series: { field: 'shards', title: '' },
    x: { field: 'slots', title: 'pending slots', log: true, values: SLOTS },
    y: { title: 'ms', log: true },
  })

/** Slots a second that a roll-up moves. */
export const rollUpRate = (runs: readonly Run[], shards: number) =>
  medianOf(runs, rollUpName(MOST_SLOTS, shards), 'rowsPerSecond')
