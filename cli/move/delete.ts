// `npm run delete`: deletes counters.
import { runMove } from './move-command.ts'

await runMove({
  name: 'delete',
  description: 'Deletes a counter, or all counters whose keys begin with a prefix, with their history.',
  done: 'deleted',
  atOnce: 4,
})
