// Runs one simulation, and prints its figures as JSON. Its argument is a `Task`.
import type { Task } from './run-simulation.ts'

const task = JSON.parse(process.argv[2]!) as Task
// The Worker logs to the console.
for (const level of ['log', 'info', 'warn', 'error'] as const) console[level] = () => {}

const figures =
  task.kind === 'writes'
    ? await (await import('./simulate-writes.ts')).simulateWrites(task.load, task.costs, task.seed, task.budget)
    : await (await import('./simulate-roll-up.ts')).simulateRollUp(task.load, task.costs, task.seed)
process.stdout.write(JSON.stringify(figures))
