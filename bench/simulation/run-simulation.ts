import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ServerCosts } from './server-costs.ts'
import type { RollUpFigures, RollUpLoad } from './simulate-roll-up.ts'
import type { WriteFigures, WriteLoad } from './simulate-writes.ts'

const TIMEOUT_MS = 300_000

/** What the process that simulates is told, as JSON. */
export type Task =
  | { kind: 'writes'; load: WriteLoad; costs: ServerCosts; seed: number; budget: number }
  | { kind: 'roll-up'; load: RollUpLoad; costs: ServerCosts; seed: number }

/** Counts hits in a simulation. See `simulateWrites`. */
export function runWrites(task: Omit<Task & { kind: 'writes' }, 'kind'>, signal: AbortSignal): Promise<WriteFigures> {
  return run({ kind: 'writes', ...task }, signal)
}

/** Rolls up in a simulation. See `simulateRollUp`. */
export function runRollUp(task: Omit<Task & { kind: 'roll-up' }, 'kind'>, signal: AbortSignal): Promise<RollUpFigures> {
  return run({ kind: 'roll-up', ...task }, signal)
}

/** In a process of its own, because it replaces the clock. */
async function run<Figures>(task: Task, signal: AbortSignal): Promise<Figures> {
  const script = join(import.meta.dirname, 'simulation-process.ts')
  const args = ['--no-warnings', '--max-old-space-size=4096', script, JSON.stringify(task)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { signal, timeout: TIMEOUT_MS })
  return JSON.parse(stdout) as Figures
}
