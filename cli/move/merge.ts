// `npm run merge`: adds counters to another one.
import { runMove } from './move-command.ts'

await runMove({
  name: 'merge',
  description: 'Adds a counter, or all counters whose keys begin with a prefix, to another counter, and deletes them.',
  target: { option: 'into', description: 'the key of the other counter, which must exist' },
  done: 'merged',
  // They change the same counter, so they would only wait for each other.
  atOnce: 1,
})
