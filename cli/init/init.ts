// `npm run init`: creates a Worker that mounts the package, or upgrades one.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { program } from 'commander'
import { VERSION } from '../../src/generated.ts'
import { commandName } from '../command-name.ts'
import { type Answers, readAnswers, WrongAnswers } from './answers.ts'
import { upgradeWorker, vendorPackage } from './vendored-package.ts'
import { workerFiles } from './worker-files.ts'

program
  .name(commandName('init'))
  .description(
    'Creates a Worker that counts: settings, entry point, README and the package. Prompts for what no option gives. For a folder that ' +
      'it has created, it upgrades the package to this version.',
  )
  .argument('<directory>', 'a new or empty folder, or one that this command has created')
  .option('--name <name>', 'name of the Worker (default: the name of the folder)')
  .option('--sites <sites>', 'sites whose pages count, such as "https://blog.example, https://shop.example"')
  .option('--downloads <url>', 'folder of your downloads, such as https://files.example.com/dist/ (default: none)')
  .option('--plan <plan>', 'Workers plan of your Cloudflare account: free or paid (default: free)')
  .addHelpText(
    'after',
    `
To deploy, you need a Cloudflare account (free) and a PlanetScale database (from $39 a month). To count on this machine, you
need neither.`,
  )
  .parse()

const [directory = ''] = program.args
const found = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return []
  return program.error(`${directory} cannot be used: ${error.message}`)
})
if (found.length > 0) {
  if (!(await upgradeWorker(directory))) program.error(`${directory} is not empty. Name a new folder.`)
  console.log(`The package is now version ${VERSION}. Next: npm install, API_TOKEN=… npm run deploy or restart serve`)
  process.exit()
}

const terminal = process.stdin.isTTY ? createInterface({ input: process.stdin, output: process.stdout }) : null
const name = basename(resolve(directory))
  .toLowerCase()
  .replaceAll(/[^a-z0-9]+/g, '-')
const defaults = { name, plan: 'free' }
try {
  const ask = terminal && ((question: string) => terminal.question(question))
  const answers = await readAnswers(program.opts<Partial<Answers>>(), defaults, ask)
  const files = await workerFiles(answers, await vendorPackage(directory))
  for (const [path, text] of files) {
    const file = join(directory, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
  console.log(`Wrote ${[...files.keys()].join(', ')} and vendor/. Next:

  cd '${directory}' && npm install && npm run dev`)
} catch (error) {
  // Ctrl-C or Ctrl-D, instead of an answer.
  if ((error as Error).name === 'AbortError') program.error('\nNothing was written.')
  if (!(error instanceof WrongAnswers)) throw error
  program.error(error.message)
} finally {
  terminal?.close()
}
