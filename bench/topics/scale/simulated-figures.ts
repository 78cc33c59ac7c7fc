import type { Testbed } from '../../harness/shared-testbed.ts'
import type { Outcome } from '../../harness/variant.ts'
import { readResults } from '../../report/results.ts'
import { runWrites } from '../../simulation/run-simulation.ts'
import type { ServerCosts } from '../../simulation/server-costs.ts'
import type { WriteLoad } from '../../simulation/simulate-writes.ts'
import { costsIn } from './server-costs.ts'

/** The costs that the model of the server is made of. */
export async function measuredCosts(): Promise<ServerCosts> {
  const costs = costsIn(await readResults())
  if (costs === null) throw new Error('Measure server-costs first: npm run bench -- server-costs')
  return costs
}

/** Simulates a load, with the round as the seed. */
export async function simulate({ signal }: Testbed, load: WriteLoad, round: number, budget: number): Promise<Outcome> {
  const task = { load, costs: await measuredCosts(), seed: round, budget }
  const figures = await runWrites(task, signal)
  return {
    figures: {
      isolates: figures.isolates,
      simulatedIsolates: figures.simulatedIsolates,
      simulatedHits: figures.simulatedHits,
      hitStatementsPerSecond: figures.hitStatementsPerSecond,
      nameStatementsPerSecond: figures.nameStatementsPerSecond,
      rowsWrittenPerSecond: figures.rowsPerSecond,
      newSlotsPerSecond: figures.insertedRowsPerSecond,
      processors: figures.processors,
      pendingSlots: figures.pendingSlots,
      pendingPerCounter: figures.pendingPerCounter,
      pendingOfBusiest: figures.pendingOfBusiest,
      pendingFormula: figures.pendingExpected / figures.pendingCounted,
      slotsOfDay: figures.slotsOfDay,
      p50Ms: figures.p50Ms,
      p99Ms: figures.p99Ms,
    },
    violations: figures.failedPer1000 > 0 ? [`${figures.failedPer1000.toFixed(1)} of 1,000 hits were refused`] : [],
  }
}
