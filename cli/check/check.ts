// `npm run check:settings`: names mistakes in wrangler.toml.
import { program } from 'commander'
import { commandName, IN_PACKAGE } from '../command-name.ts'
import { wrongSettings } from './wrong-settings.ts'

program
  .name(commandName(IN_PACKAGE ? 'check' : 'check:settings'))
  .description('Reads wrangler.toml as the Worker would, and names mistakes with file and line.')
  .argument('[file]', 'the file', 'wrangler.toml')
  .option('--mounted', 'the counter is mounted in a Worker with other variables and cron triggers')
  .parse()

const [file] = program.processedArgs as [string]
try {
  const found = wrongSettings(file, program.opts<{ mounted?: true }>().mounted)
  for (const line of found) console.error(line)
  if (found.length > 0) program.error(`${found.length} ${found.length === 1 ? 'mistake' : 'mistakes'}`)
  console.log(`${file}: no mistakes.`)
} catch (error) {
  // Only a lack of wrangler is expected. The stack of anything else says where this program is wrong.
  if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code !== 'MODULE_NOT_FOUND') throw error
  program.error((error as Error).message)
}
