// `npm run assets`: puts the files that browsers load into the static assets of a Worker that mounts the counter.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { program } from 'commander'
import { commandName } from '../command-name.ts'
import { readAssets, writeAssets } from './asset-files.ts'

/** Where the files of this version are. */
const SHIPPED = join(dirname(fileURLToPath(import.meta.resolve('slotted-counter/package.json'))), 'dist/public')

const {
  args: [directory = ''],
} = program
  .name(commandName('assets'))
  .description(
    'Puts the script, the files of the dashboard and the documentation into a folder of static assets. Other files there, and ' +
      'rules of others in _headers, stay as they are.',
  )
  .argument('<directory>', 'the folder that [assets] in wrangler.toml names')
  .option('--base-path <path>', 'the BASE_PATH of the counter, such as /counter', '')
  .parse()
const { basePath } = program.opts<{ basePath: string }>()
if (!/^(?:\/[\w-]+)*$/.test(basePath)) {
  program.error('--base-path must be a path such as /counter: letters, digits, "_" and "-" between slashes.')
}

const files = await readAssets(SHIPPED)
await writeAssets(files, directory, basePath)
console.log(
  `Wrote ${files.size - 1} files to ${join(directory, basePath)}, and their headers to ${join(directory, '_headers')}.`,
)
