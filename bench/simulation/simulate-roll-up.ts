import { prune } from '../../src/counters/old-rows.ts'
import { rollUp } from '../../src/counters/rollup/roll-up.ts'
import { PLANS } from '../../src/plans.ts'
import { ModelTables, modelDatabase } from './model-database.ts'
import { ModelServer, type ServerOptions } from './model-server.ts'
import { Random } from './random.ts'
import type { ServerCosts } from './server-costs.ts'
import { recordIdOf } from './spread-id.ts'
import { VirtualClock } from './virtual-clock.ts'

const STARTS_AT = Date.UTC(2026, 10, 22)
const MOST_MS = 30 * 60_000

/** Pending slots to roll up, and empty ones to prune. */
export interface RollUpLoad {
  pendingSlots: number
  counters: number
  ranges: number
  server: ServerOptions
  /** Milliseconds of a round trip to the database. */
  roundTripMs: number
  /** Whether to prune instead: then the slots are empty and old. */
  pruning: boolean
}

/** What one run did. */
export interface RollUpFigures {
  /** Slots moved, or deleted. */
  slots: number
  seconds: number
  statements: number
  complete: boolean
  /** Processor seconds that it took of all shards. */
  processorSeconds: number
}

/** Rolls up, or prunes, once, with the product's code on a virtual clock. */
export async function simulateRollUp(load: RollUpLoad, costs: ServerCosts, seed: number): Promise<RollUpFigures> {
  const random = new Random(seed)
  random.install()
  const clock = new VirtualClock(STARTS_AT)
  clock.install()
  const server = new ModelServer(clock, load.server)
  const tables = new ModelTables()
  const { counters, pendingSlots, ranges, roundTripMs, pruning } = load
  for (let n = 0; n < pendingSlots; n++) {
    const id = recordIdOf(BigInt((n % counters) + 1))
    const slot = (BigInt(random.bits32()) << 31n) + BigInt(n)
    const text = { type: '1', id: String(id).padStart(20, '0'), slot: String(slot).padStart(20, '0') }
    tables.slots.set(`1,${id},${slot}`, { ...text, count: pruning ? 0 : 1 })
  }
  const db = modelDatabase({ clock, server, costs, tables, ranges, roundTripMs, weight: 1 })
  let figures: Omit<RollUpFigures, 'processorSeconds'> | null = null
  let failure: unknown = null
  const began = clock.now
  const run = async () => {
    const summary = pruning
      ? await prune(db, PLANS.paid.pruning)
      : await rollUp(db, { ...PLANS.paid.rollUp, at: new Date() })
    figures = {
      slots: 'deleted' in summary ? summary.deleted : summary.slots,
      seconds: (clock.now - began) / 1_000,
      statements: summary.statements,
      complete: summary.outcome === 'complete',
    }
  }
  run().catch((error: unknown) => {
    failure = error
  })
  await clock.runUntil(clock.now + MOST_MS, () => figures !== null || failure !== null)
  if (figures === null) throw failure ?? new Error('the run did not end')
  const processorSeconds = server.usedMicros.reduce((a, b) => a + b) / 1e6
  return { ...(figures as Omit<RollUpFigures, 'processorSeconds'>), processorSeconds }
}
