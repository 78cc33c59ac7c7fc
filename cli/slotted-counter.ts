#!/usr/bin/env node
// The command `slotted-counter` of the package. Its subcommands are the npm scripts of the repository.
import { VERSION } from '../src/generated.ts'

const COMMANDS: Record<string, [summary: string, run: () => Promise<unknown>]> = {
  migrate: ['bring the tables of a database up to this version', () => import('./migrate/migrate.ts')],
  init: ['create a Worker that counts, in a new folder', () => import('./init/init.ts')],
  dev: ['run the Worker of this folder with a real local database', () => import('../local/start.ts')],
  serve: ['run the Worker of this folder on this machine for good', () => import('../local/serve/serve.ts')],
  deploy: ['deploy the Worker of this folder, with secrets and tables', () => import('./deploy/deploy.ts')],
  check: ['name mistakes in wrangler.toml, with their lines', () => import('./check/check.ts')],
  assets: ['write the files that browsers load into your static assets', () => import('./assets/assets.ts')],
  token: ['create a named API token', () => import('./token/token.ts')],
  import: ['add counts from a file to the counters of a running Worker', () => import('./import/import.ts')],
  sync: ['add the downloads that GitHub or npm reports', () => import('./sync/sync.ts')],
  export: ['write the counters of a running Worker to a file', () => import('./export/export.ts')],
  replay: ['count the requests of an access log', () => import('./replay/replay.ts')],
  verify: ['check the tables of a running Worker against each other', () => import('./verify/verify.ts')],
  repair: ['correct the sums that verify found wrong', () => import('./repair/repair.ts')],
  contention: ['show which connections wait for locked rows', () => import('./contention/contention.ts')],
  delete: ['delete counters', () => import('./move/delete.ts')],
  rename: ['move counters to other keys', () => import('./move/rename.ts')],
  merge: ['add counters to another counter and delete them', () => import('./move/merge.ts')],
}

const HELP = `Usage: npx slotted-counter COMMAND [options]

${Object.entries(COMMANDS)
  .map(([name, [summary]]) => `  ${name.padEnd(10)} ${summary}`)
  .join('\n')}

"npx slotted-counter COMMAND --help" lists the options of a command.`

const [name = '', ...rest] = process.argv.slice(2)
if (name === '' || name === 'help' || name === '-h' || name === '--help') console.log(HELP)
else if (name === '-V' || name === '--version') console.log(VERSION)
else if (Object.hasOwn(COMMANDS, name)) {
  // Each command reads its own arguments.
  process.argv.splice(2, process.argv.length, ...rest)
  await COMMANDS[name]![1]()
} else {
  console.error(`There is no command "${name}".\n\n${HELP}`)
  process.exitCode = 1
}
