// `npm run delete`: deletes counters.
import { runTransfer } from './transfer-command.ts'

await runTransfer({
  name: 'delete',
  description: 'Deletes a counter, or all counters whose keys begin with a prefix, with their history.',
  other: null,
  done: 'deleted',
})
