// `npm run rename`: moves counters to other keys.
import { runMove } from './move-command.ts'

await runMove({
  name: 'rename',
  description: 'Moves the count and the history of a counter to another key, or those of all counters with a prefix.',
  other: { flags: '--to <key>', description: 'the new key or, with --prefix, what takes its place', at: 'to' },
  done: 'renamed',
  otherOf: (key, { prefix, other }) => (prefix === undefined ? other : other + key.slice(prefix.length)),
  // What was renamed would be found and renamed again when the command is repeated.
  refuse: ({ prefix, other }) =>
    prefix !== undefined && other.startsWith(prefix)
      ? 'With --prefix, the new keys must not begin with the prefix.'
      : null,
})
