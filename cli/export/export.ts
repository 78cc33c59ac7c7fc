// `npm run export`: writes the counters of a running Worker to a file or to standard output.
import { once } from 'node:events'
import { open, rename, rm } from 'node:fs/promises'
import { Option, program } from 'commander'
import { commandName } from '../command-name.ts'
import { interruption, stop } from '../interruption.ts'
import { endProgress, sayProgress } from '../progress.ts'
import { configuredTypes } from '../worker-client.ts'
import { TOKEN_OPTION, URL_OPTION, workerOf } from '../worker-options.ts'
import { EXPORT_FORMATS, type ExportedRow } from './export-format.ts'

program
  .name(commandName('export', '-s '))
  .description(
    'Writes the counters of a running Worker as CSV or JSON lines, to standard output or to a file. The import command reads ' +
      'both formats.',
  )
  .addOption(URL_OPTION)
  .addOption(TOKEN_OPTION)
  .option('--type <type...>', 'types to export (default: all)')
  .addOption(new Option('--format <format>', 'CSV or JSON lines').choices(['csv', 'json']).default('csv'))
  .addOption(
    new Option('--by <what>', 'a row for each counter, or for each day of each counter')
      .choices(['total', 'day'])
      .default('total'),
  )
  .option('-o, --output <file>', 'write to a file')
  .addHelpText(
    'after',
    `
Pages are read one after another. Each counter is exact when its page is read.

By day:
- Counts that are not rolled up yet belong to today.
- Counts that were set, or imported without a day, are in a row without a day.

In CSV, a key that a spreadsheet would treat as a formula gets an apostrophe in front. A key that already looks like that gets
one more. The import command removes it.

While -o writes, the file is called FILE.partial. An export that fails removes it; the next one starts from the beginning.`,
  )
  .parse()

const options = program.opts<{
  url: string
  token: string
  type?: string[]
  format: keyof typeof EXPORT_FORMATS
  by: 'total' | 'day'
  output?: string
}>()
const interrupted = interruption()
const worker = workerOf(options, interrupted)
const format = EXPORT_FORMATS[options.format]
const began = Date.now()
let rows = 0

async function* exported(): AsyncGenerator<string> {
  const types = options.type ?? [...(await configuredTypes(worker)).keys()]
  yield format.header
  for (const type of new Set(types)) {
    const path = `/v1/export/${encodeURIComponent(type)}`
    type Page = { rows: Omit<ExportedRow, 'type'>[] }
    for await (const page of worker.pages<Page>('GET', path, { by: options.by })) {
      yield format.rows(page.rows.map((row) => ({ type, ...row })))
      rows += page.rows.length
      sayProgress(`${rows} rows`)
    }
  }
}

// The reader of a pipe may close it early, as `head` does.
let readerIsGone = false
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  readerIsGone = true
  interrupted.abort()
})

async function writeToOutput(): Promise<void> {
  for await (const text of exported()) {
    if (!process.stdout.write(text)) await once(process.stdout, 'drain', { signal: interrupted.signal })
  }
}

try {
  await (options.output === undefined ? writeToOutput() : writeCompleteFile(options.output, exported()))
  endProgress()
  console.error(`${rows} rows exported in ${((Date.now() - began) / 1_000).toFixed(1)} s.`)
} catch (error) {
  if (readerIsGone) process.exitCode = 141
  else stop(error, interrupted, options.output === undefined ? '' : ` Nothing was written to ${options.output}.`)
}

/** Writes a file that is called `PATH.partial` until it is complete. If writing fails, that is removed. */
async function writeCompleteFile(path: string, content: AsyncIterable<string>): Promise<void> {
  const partial = `${path}.partial`
  const file = await open(partial, 'w')
  try {
    await file.writeFile(content)
    await file.datasync()
  } catch (error) {
    await rm(partial)
    throw error
  } finally {
    await file.close()
  }
  await rename(partial, path)
}
