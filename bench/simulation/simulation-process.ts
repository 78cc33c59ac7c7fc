// Runs one simulation, and prints its figures as JSON. Its argument is a `Task`.
import { registerHooks } from 'node:module'
import type { Constants, Task } from './run-simulation.ts'

const task = JSON.parse(process.argv[2]!) as Task
// The Worker logs to the console.
for (const level of ['log', 'info', 'warn', 'error'] as const) console[level] = () => {}
if (task.kind === 'writes' && task.constants !== undefined) replaceConstants(task.constants)

const figures =
  task.kind === 'writes'
    ? await (await import('./simulate-writes.ts')).simulateWrites(task.load, task.costs, task.seed, task.budget)
    : await (await import('./simulate-roll-up.ts')).simulateRollUp(task.load, task.costs, task.seed)
process.stdout.write(JSON.stringify(figures))

/** Loads group commit with other constants: the rest of its code stays as it is. */
function replaceConstants(constants: Constants): void {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context)
      if (!url.endsWith('/src/counters/write/group-commit.ts')) return loaded
      let source = String(loaded.source)
      for (const [name, value] of Object.entries(constants)) {
        const line = new RegExp(`^const ${name} = .*$`, 'm')
        if (!line.test(source)) throw new Error(`group-commit.ts has no constant ${name}`)
        source = source.replace(line, `const ${name} = ${value}`)
      }
      return { ...loaded, source }
    },
  })
}
