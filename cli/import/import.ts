// `npm run import`: adds counts from a file to the counters of a running Worker.
import { InvalidArgumentError, Option, program } from 'commander'
import { addressOfKey, type KeyedType } from '../../src/counters/keys/counter-address.ts'
import { commandName } from '../command-name.ts'
import { exportPages } from '../export/export-pages.ts'
import { openInputFile } from '../input-file.ts'
import { interruption, stopReason } from '../interruption.ts'
import { endProgress, sayProgress } from '../progress.ts'
import { configuredTypes, RefusedError, WorkerClient } from '../worker-client.ts'
import { TOKEN_OPTION, URL_OPTION } from '../worker-options.ts'
import { isDay } from './cell-values.ts'
import { type ImportBatch, importBatches } from './cut-import-batches.ts'
import { DailyCounts } from './daily-counts.ts'
import { type ImportRow, readImportRows } from './import-rows.ts'
import { type InputText, readText } from './input-text.ts'
import { LineError } from './line-error.ts'
import { OTHER_COUNTERS, toolOf } from './other-counters.ts'
import { SimilarKeys } from './similar-keys.ts'

/** The most mistakes that are listed. */
const MAX_LISTED = 10

program
  .name(commandName('import'))
  .description(
    'Adds counts from a file to the counters of a running Worker. The file is CSV with the header type,key,count or ' +
      'type,key,count,day, JSON lines (one object with these members a line), or an export of another counter, plain or ' +
      'compressed with gzip. Counts with a day (UTC) enter the history of that day; counts without a day enter the total only.',
  )
  .argument('<file>', 'the file, or - for standard input')
  .addOption(URL_OPTION)
  .addOption(TOKEN_OPTION)
  .option('--name <name>', 'name of this import', '')
  .option('--dry-run', 'check the file, and import nothing')
  .addOption(
    new Option('--from <tool>', 'the file is an export of this tool (default: by its columns)').choices(
      Object.keys(OTHER_COUNTERS),
    ),
  )
  .option('--type <type>', 'of an export: the counter type of the counts (default: page_view, of GitHub download)')
  .option('--prefix <text>', 'of an export: what to put in front of each key, such as a host')
  .option('--before <day>', 'of an export: leave out this day (UTC) and later ones', (day: string) => {
    if (!isDay(day)) throw new InvalidArgumentError('It must be a day from 1970-01-01 to today (UTC).')
    return day
  })
  .option('--no-query', 'of an export: drop the query and the fragment of paths, as the script does')
  .addHelpText(
    'after',
    `
Running the same command again is safe: rows that an earlier run imported are skipped, even if the counters have changed since.
The Worker recognises an import by its --name and its rows, in batches of a thousand. The name of the file, its format and its
compression do not matter. Therefore:
- To add the same numbers once more on purpose, use another --name.
- Put later rows into a separate file. Rows appended to this file change its last batch, and the whole batch would be
  added again.

A file is checked before anything is sent. If a row is wrong, nothing is imported, and the message names its line. From
standard input, the rows before that line are imported.

The export command puts an apostrophe before a key that a spreadsheet would treat as a formula. This command removes it: an
apostrophe before = + - @, a tab or a line break.

Of an export, counts are summed for each key and day. The keys of paths are those under which the pages are counted. What is
left out is said, and which keys differ only by spelling from each other or from counters that exist. Another --type,
--prefix, --before or --no-query makes another import, and so does an export that has grown.
- goatcounter: the CSV of all page views, or of the JSON export two files, which hold visits:
  unzip -p FILE.zip '*/paths.jsonl' '*/hit_stats.jsonl' | ${commandName('import')} -
- plausible: of the zip file, imported_pages_….csv:
  unzip -p FILE.zip '*imported_pages*' | ${commandName('import')} -
- umami: of the zip file, website_event.csv:
  unzip -p FILE.zip '*website_event.csv' | ${commandName('import')} -
- github-releases: what GitHub's API answers, with all pages. The keys are TAG/NAME. The numbers have no days: a later
  answer would add all of them again.
  gh api --paginate 'repos/OWNER/REPO/releases?per_page=100' | ${commandName('import')} -`,
  )
  .parse()

const { from, type, prefix, before, query, dryRun, ...options } = program.opts<{
  url: string
  token: string
  name: string
  dryRun?: true
  from?: string
  type?: string
  prefix?: string
  before?: string
  query: boolean
}>()
const [file = '-'] = program.args
const interrupted = interruption()
// Ends a read of standard input that is waiting.
interrupted.signal.addEventListener('abort', () => process.stdin.destroy())

const began = Date.now()
const done = { rows: 0, repeated: 0, requests: 0, retries: 0 }
/** The tool that wrote the file; `undefined`: it has rows. */
let tool = from
const worker = new WorkerClient({
  url: options.url,
  token: options.token,
  signal: interrupted.signal,
  onRetry: (message) => {
    done.retries++
    console.error(message)
  },
})

async function* chunksOfFile(): AsyncGenerator<Buffer> {
  const { chunks, bytesRead } = await openInputFile(file)
  for await (const chunk of chunks) {
    interrupted.signal.throwIfAborted()
    // An export is read to its end before the first row is imported.
    if (tool !== undefined) sayProgress(`${Math.round(bytesRead() / 1_000_000)} MB read`)
    yield chunk
  }
}

/** Sums what the export of another tool holds, and says what it leaves out. */
async function sumExport(name: string, text: InputText): Promise<ImportRow[]> {
  const { type: usual, read, neverImported } = OTHER_COUNTERS[name]!
  const rules = { type: type ?? usual, prefix: prefix ?? '', query, ...(before !== undefined && { before }) }
  const counts = new DailyCounts(rules)
  await read(text, counts)
  const rows = counts.rows()
  const sum = rows.reduce((sum, { count }) => sum + count, 0n)
  console.log(`Read: ${sum} counts of ${name} in ${rows.length} rows, one for each key and day.`)
  const leftOut = [...counts.leftOut].map(([reason, count]) => `${reason} (${count})`).join(', ')
  if (leftOut !== '') console.log(`Left out: ${leftOut}.`)
  console.log(`Never imported: ${neverImported}.`)
  return rows
}

/** Looks for mistakes before anything is imported. Returns the number of rows. */
async function check(
  all: AsyncIterable<ImportRow> | Iterable<ImportRow>,
  types: ReadonlyMap<string, KeyedType>,
): Promise<number> {
  const mistakes: string[] = []
  let rows = 0
  for await (const { line, type: name, key } of all) {
    const type = types.get(name)
    if (type === undefined) {
      if (tool !== undefined) {
        throw new RefusedError(
          `the Worker has no counter type "${name}"; with --type, choose ${[...types.keys()].join(', ')}`,
        )
      }
      mistakes.push(`line ${line}: type is not a configured counter type`)
    } else await addressOfKey(type, key).catch(({ message }: Error) => mistakes.push(`line ${line}: key ${message}`))
    if (mistakes.length === MAX_LISTED) break
    rows++
    interrupted.signal.throwIfAborted()
  }
  if (mistakes.length > 0) throw new RefusedError(`the Worker does not count these rows:\n${mistakes.join('\n')}`)
  return rows
}

/** Says which keys of an export differ only by spelling from each other or from counters that exist. */
async function compareKeys(rows: readonly ImportRow[], types: ReadonlyMap<string, KeyedType>): Promise<void> {
  const name = rows[0]?.type
  if (name === undefined) return
  const similar = new SimilarKeys(
    rows.map(({ key }) => key),
    types.get(name)!.sameKey,
  )
  for await (const page of exportPages(worker, [name], 'total')) for (const { key } of page) similar.compare(key)
  const summary = similar.summary()
  if (summary !== null) console.log(summary)
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
  return `${done.rows} rows imported${before}. ${done.requests} requests, ${done.retries} retries, ${seconds} s.`
}

async function importRows(rows: AsyncIterable<ImportRow>, total: number | null): Promise<void> {
  for await (const batch of importBatches(rows, options.name)) {
    await send(batch)
    sayProgress(`${done.rows}${total === null ? '' : ` of ${total}`} rows imported`)
  }
  endProgress()
  console.log(summary())
  if (done.rows === 0) console.error('The file has no rows to import.')
}

try {
  const first = await readText(chunksOfFile())
  tool ??= toolOf(first)
  if (tool === undefined && ((type ?? prefix ?? before) !== undefined || !query)) {
    throw new RefusedError(
      '--type, --prefix, --before and --no-query are for exports of other counters; this file has rows',
    )
  }
  const sums = tool === undefined ? null : await sumExport(tool, first)
  let unread: InputText | null = first
  async function* rows(): AsyncGenerator<ImportRow> {
    if (sums !== null) return yield* sums
    const text = unread ?? (await readText(chunksOfFile()))
    unread = null
    yield* readImportRows(text)
  }
  const types = new Map((await configuredTypes(worker)).map((type) => [type.name, type]))
  // Standard input cannot be read twice. Sums are in memory.
  const total = sums === null && file === '-' && !dryRun ? null : await check(rows(), types)
  if (sums !== null) await compareKeys(sums, types)
  if (dryRun) console.log(`Rows that would be imported: ${total}. Nothing was changed.`)
  else await importRows(rows(), total)
} catch (error) {
  endProgress()
  const reason = stopReason(error, interrupted)
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
