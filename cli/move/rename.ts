// `npm run rename`: moves counters to other keys.
import { runMove } from './move-command.ts'

await runMove({
  name: 'rename',
  description: 'Moves the count and the history of a counter to another key, or those of all counters with a prefix.',
  target: { option: 'to', description: 'the new key or, with --prefix, what takes its place' },
  done: 'renamed',
  atOnce: 4,
})
