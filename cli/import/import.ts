// `npm run import`: adds counts from a file to the counters of a running Worker.
import cliProgress from 'cli-progress'
import { Option, program } from 'commander'
import { addressOfKey } from '../../src/counters/counter-address.ts'
import { commandName } from '../command-name.ts'
import { type ConfiguredType, configuredTypes } from '../configured-types.ts'
import { openInputFile } from '../input-file.ts'
import { interruption } from '../interruption.ts'
import { describeError, RefusedError, WorkerClient } from '../worker-client.ts'
import { TOKEN_OPTION, URL_OPTION } from '../worker-options.ts'
import { type ImportBatch, importBatches } from './cut-import-batches.ts'
import { type ImportFormat, type ImportRow, readImportRows } from './import-rows.ts'
import { LineError } from './line-error.ts'
import { OTHER_COUNTERS } from './other-counters.ts'
import type { LeftOut } from './taken-over.ts'

/** The most mistakes that are listed. */
const MAX_LISTED = 10

program
  .name(commandName('import'))
  .description(
    'Adds counts from a file to the counters of a running Worker. The file is CSV with the header type,key,count or ' +
      'type,key,count,day, or JSON lines (one object with these members a line), plain or compressed with gzip. Counts with a ' +
      'day (UTC) enter the history of that day; counts without a day enter the total only.',
  )
  .argument('<file>', 'the file, or - for standard input')
  .addOption(URL_OPTION)
  .addOption(TOKEN_OPTION)
  .option('--name <name>', 'name of this import', '')
  .addOption(
    new Option('--format <format>', 'CSV or JSON lines (default: by the first character)').choices(['csv', 'json']),
  )
  .addOption(
    new Option('--from <counter>', 'the file is an export of another counter').choices(Object.keys(OTHER_COUNTERS)),
  )
  .option('--type <type>', 'with --from: counter type (default: page_view; download for github-releases)')
  .option('--visitors <type>', 'with --from: count visitors too, under this type')
  .option('--events <type>', 'with --from goatcounter: count events too, under this type')
  .option('--prefix <text>', 'with --from: put this in front of each key, such as the name of a site')
  .addHelpText(
    'after',
    `
Exports of other counters:
  --from goatcounter      the CSV export, which has a row for each page view
  --from plausible        imported_pages_….csv, a file of the zip that Plausible exports
  --from github-releases  what https://api.github.com/repos/OWNER/REPO/releases?per_page=100 answers
Days are kept. GitHub has no days, so its numbers enter the totals only. What is not imported is listed at the end. Import the
last export, once: a later one has the earlier numbers too, and would add them again.

Running the same command again is safe: rows that an earlier run imported are skipped, even if the counters have changed since.
The Worker recognises an import by its --name and its rows, in batches of a thousand. The name of the file, its format and its
compression do not matter. Therefore:
- To add the same numbers once more on purpose, use another --name.
- Put later rows into a separate file. Rows appended to this file change its last batch, and the whole batch would be
  added again.

A file is checked before anything is sent. If a row is wrong, nothing is imported, and the message names its line. From
standard input, the rows before that line are imported.

The export command puts an apostrophe before a key that a spreadsheet would treat as a formula. This command removes it: an
apostrophe before = + - @, a tab or a line break.`,
  )
  .parse()

const options = program.opts<{
  url: string
  token: string
  name: string
  format?: ImportFormat
  from?: keyof typeof OTHER_COUNTERS
  type?: string
  visitors?: string
  events?: string
  prefix?: string
}>()
const [file = '-'] = program.args
if (options.from === undefined) {
  for (const name of ['type', 'visitors', 'events', 'prefix'] as const) {
    if (options[name] !== undefined) program.error(`--${name} needs --from.`)
  }
} else if (options.format !== undefined) program.error('--format and --from cannot be used together.')
else if (options.events !== undefined && options.from !== 'goatcounter') program.error(`${options.from} has no events.`)
else if (options.visitors !== undefined && options.from === 'github-releases') {
  program.error('github-releases has no visitors.')
}
const interrupted = interruption()
// Ends a read of standard input that is waiting.
interrupted.signal.addEventListener('abort', () => process.stdin.destroy())

const began = Date.now()
const done = { rows: 0, repeated: 0, requests: 0, retries: 0 }
const leftOut: LeftOut = new Map()
const worker = new WorkerClient({
  url: options.url,
  token: options.token,
  signal: interrupted.signal,
  onRetry: (message) => {
    done.retries++
    console.error(message)
  },
})

let known: Map<string, ConfiguredType> | undefined
async function typeOf(name: string): Promise<ConfiguredType | undefined> {
  known ??= new Map((await configuredTypes(worker)).map((type) => [type.name, type]))
  return known.get(name)
}

/** Reads the rows to import from the file. */
async function* readRows(leftOut: LeftOut): AsyncGenerator<ImportRow> {
  const { chunks } = await openInputFile(file)
  const { from, visitors, events, prefix = '' } = options
  if (from === undefined) return yield* readImportRows(chunks, options.format)
  const { read, type } = OTHER_COUNTERS[from]
  let refused = 0
  for await (const row of read(chunks, { type: options.type ?? type, visitors, events, prefix }, leftOut)) {
    const counted = await typeOf(row.type)
    // Nobody can correct the addresses that strangers once asked for.
    if (counted !== undefined && !(await isKey(counted, row.key))) {
      leftOut.set('rows whose key cannot be counted here', ++refused)
    } else yield row
  }
}

async function isKey(type: ConfiguredType, key: string): Promise<boolean> {
  return addressOfKey(type, key).then(
    () => true,
    () => false,
  )
}

/** Reads the whole file, to find mistakes before anything is imported. Returns the number of rows. */
async function check(): Promise<number> {
  const mistakes: string[] = []
  let rows = 0
  for await (const { line, type: name, key } of readRows(new Map())) {
    const type = await typeOf(name)
    if (type === undefined) {
      // The type of an export comes from the command line.
      if (options.from !== undefined) throw new RefusedError(`the Worker has no counter type ${name}`)
      mistakes.push(`line ${line}: type is not a configured counter type`)
    } else await addressOfKey(type, key).catch(({ message }: Error) => mistakes.push(`line ${line}: key ${message}`))
    if (mistakes.length === MAX_LISTED) break
    rows++
    interrupted.signal.throwIfAborted()
  }
  if (mistakes.length > 0) throw new RefusedError(`the Worker does not count these rows:\n${mistakes.join('\n')}`)
  return rows
}

async function send({ idempotencyKey, counters, lines }: ImportBatch): Promise<void> {
  try {
    const { repeated } = await worker.post('/v1/imports', { counters }, idempotencyKey)
    done.requests++
    done.rows += counters.length
    if (repeated) done.repeated += counters.length
  } catch (error) {
    if (!(error instanceof RefusedError) || error.errors.length === 0) throw error
    const listed = error.errors.slice(0, MAX_LISTED).map(({ field, message }) => {
      const [, index, name] = /^counters\.(\d+)\.(\w+)$/.exec(field) ?? []
      return index === undefined ? `${field} ${message}` : `line ${lines[Number(index)]}: ${name} ${message}`
    })
    const more = error.errors.length > MAX_LISTED ? `\n(and ${error.errors.length - MAX_LISTED} more)` : ''
    throw new RefusedError(`the Worker refuses these rows:\n${listed.join('\n')}${more}`)
  }
}

function summary(): string {
  const seconds = ((Date.now() - began) / 1_000).toFixed(1)
  const before = done.repeated > 0 ? `, ${done.repeated} of them had been imported before and were not added again` : ''
  const others = [...leftOut].map(([what, count]) => `${count} ${what}`).join(', ')
  return (
    `${done.rows} rows imported${before}${others && `; not imported: ${others}`}. ` +
    `${done.requests} requests, ${done.retries} retries, ${seconds} s.`
  )
}

const bar = new cliProgress.SingleBar(
  { format: ' {bar} {percentage}% | {value} of {total} rows | {eta_formatted} left', hideCursor: true },
  cliProgress.Presets.shades_classic,
)
try {
  const total = file === '-' ? null : await check()
  const isTerminal = process.stderr.isTTY && total !== null
  if (isTerminal) bar.start(total, 0)
  let nextNotice = Date.now() + 5_000
  for await (const batch of importBatches(readRows(leftOut), options.name)) {
    await send(batch)
    if (isTerminal) bar.update(done.rows)
    else if (Date.now() > nextNotice) {
      nextNotice = Date.now() + 5_000
      console.error(`${done.rows} rows imported …`)
    }
  }
  bar.stop()
  console.log(summary())
  if (done.rows === 0 && leftOut.size === 0) console.error('The file has no rows.')
} catch (error) {
  bar.stop()
  const reason = interrupted.signal.aborted ? 'Interrupted' : `Stopped: ${describeError(error).replace(/\.+$/, '')}`
  console.error(`${reason}.\nSo far: ${summary()}`)
  const isFinal =
    error instanceof RefusedError || error instanceof LineError || (error instanceof Error && 'code' in error)
  if (interrupted.signal.aborted || !isFinal) {
    console.error('Run the same command again to continue. Nothing is added twice.')
  } else if (done.rows > 0) {
    console.error('Correct the line and run the command again to continue. The rows before it are not added twice.')
  }
  process.exitCode = interrupted.signal.aborted ? 130 : 1
}
process.stdin.destroy()
