// `npm run import`: adds counts from a file to the counters of a running Worker.
import { InvalidArgumentError, Option, program } from 'commander'
import { commandName } from '../command-name.ts'
import { type InputFile, openAgain } from '../input-file.ts'
import { canContinue, interruption, stop } from '../interruption.ts'
import { endProgress, sayProgress } from '../progress.ts'
import { RefusedError } from '../retried.ts'
import { configuredTypes } from '../worker-client.ts'
import { TOKEN_OPTION, URL_OPTION, workerOf } from '../worker-options.ts'
import { isDay } from './cell-values.ts'
import { checkRows } from './check-rows.ts'
import { importBatches } from './cut-import-batches.ts'
import { DailyCounts } from './daily-counts.ts'
import { type ImportRow, readImportRows } from './import-rows.ts'
import { type InputText, readText } from './input-text.ts'
import { Mistakes } from './mistakes.ts'
import { OTHER_COUNTERS, toolOf } from './other-counters.ts'
import { SplitImports } from './split-imports.ts'

program
  .name(commandName('import'))
  .description(
    'Adds counts from a file to the counters of a running Worker. The file is CSV with the header type,key,count or ' +
      'type,key,count,day, JSON lines (one object with these members per line), or an export of another counter, plain or ' +
      'compressed with gzip. Counts with a day (UTC), or an hour such as 2026-11-01T09, are added to the history; others only to the total.',
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
  .option('--type <type>', 'of an export: the counter type of the counts (default: page_view)')
  .option('--prefix <text>', 'of an export: what to put in front of each key, such as a host')
  .option('--before <day>', 'of an export: leave out this day (UTC) and later ones', (day: string) => {
    if (!isDay(day)) throw new InvalidArgumentError('It must be a day from 1970-01-01 to today (UTC).')
    return day
  })
  .option('--host <name>', 'of an export: take only the counts of this host')
  .option('--no-query', 'of an export: drop the query and the fragment of paths, as the script does')
  .addHelpText(
    'after',
    `
Running the same command again is safe: rows that an earlier run imported are skipped, even if the counters have changed since.
The Worker recognizes an import by its --name and its rows, in batches of a thousand. The name of the file, its format and its
compression do not matter. Therefore:
- To add the same numbers once more on purpose, use another --name.
- Put later rows into a separate file. Rows appended to this file change its last batch, and the whole batch would be
  added again.

Everything is checked before anything is sent. If lines are wrong, nothing is imported, and the message names them.

The export command puts an apostrophe before a key that a spreadsheet would treat as a formula. This command removes it: an
apostrophe before = + - @, a tab or a line break.

Of an export, counts are summed for each key and day. The keys of paths are those under which the pages are counted. What is
left out is listed. With another --type, --prefix, --before, --host or --no-query, it is another import. So is an export that
has grown.
- goatcounter: the CSV of all page views, or two files of the JSON export, which hold visits:
  unzip -p FILE.zip '*/paths.jsonl' '*/hit_stats.jsonl' | ${commandName('import')} -
- plausible: of the zip file, imported_pages_….csv:
  unzip -p FILE.zip '*imported_pages*' | ${commandName('import')} -
- umami: of the zip file, website_event.csv:
  unzip -p FILE.zip '*website_event.csv' | ${commandName('import')} -`,
  )
  .parse()

const { from, type, prefix, before, host, query, dryRun, name, ...options } = program.opts<{
  url: string
  token: string
  name: string
  dryRun?: true
  from?: string
  type?: string
  prefix?: string
  before?: string
  host?: string
  query: boolean
}>()
const [file = '-'] = program.args
const interrupted = interruption()
// Ends a read of standard input that is waiting.
interrupted.signal.addEventListener('abort', () => process.stdin.destroy())

const began = Date.now()
const done = { rows: 0, repeated: 0, requests: 0 }
/** The batch that is being imported: the lines of its rows, the indexes of those that are left, and the last line before it. */
let batch: { lines: number[]; left: Set<number>; before: number | undefined } | null = null
/** The rows of an export, once it is summed up. */
let sums: ImportRow[] | undefined
const worker = workerOf(options, interrupted)

async function* chunksOf({ chunks, bytesRead }: InputFile): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    interrupted.signal.throwIfAborted()
    if (batch === null) sayProgress(`${Math.round(bytesRead() / 1_000_000)} MB read`)
    yield chunk
  }
}

/** Sums what the export of another tool holds, and says what it leaves out. */
async function sumExport(tool: string, text: InputText, mistakes: Mistakes): Promise<ImportRow[]> {
  const { read, neverImported } = OTHER_COUNTERS[tool]!
  const counts = new DailyCounts({ type: type ?? 'page_view', prefix: prefix ?? '', query, before, host })
  await read(text, counts, mistakes)
  mistakes.throwIfAny()
  const rows = counts.rows()
  const sum = rows.reduce((sum, { count }) => sum + count, 0n)
  console.log(`Read: ${sum} counts of ${tool} in ${rows.length} rows, one for each key and day.`)
  const leftOut = [...counts.leftOut].map(([reason, count]) => `${reason} (${count})`).join(', ')
  if (leftOut !== '') console.log(`Left out: ${leftOut}.`)
  console.log(`Never imported: ${neverImported}.`)
  if (counts.hosts.size > 1 && host === undefined) {
    console.log(
      `Hosts: ${[...counts.hosts].join(', ')}. The same path counts under one key for all of them; --host selects one host.`,
    )
  }
  return rows
}

function summary(): string {
  const seconds = ((Date.now() - began) / 1_000).toFixed(1)
  const before = done.repeated > 0 ? `, ${done.repeated} of them had been imported before and were not added again` : ''
  return `${done.rows} rows imported${before}. ${done.requests} requests, ${worker.retries} retries, ${seconds} s.`
}

async function importRows(
  rows: AsyncIterable<ImportRow> | Iterable<ImportRow>,
  total: number,
  changed: Mistakes,
): Promise<void> {
  const imports = new SplitImports(worker)
  for await (const { idempotencyKey, counters, lines } of importBatches(rows, name)) {
    // The file may have changed since it was checked.
    changed.throwIfAny()
    const left = new Set(lines.keys())
    batch = { lines, left, before: batch?.lines.at(-1) }
    for await (const { rows, repeated } of imports.send(idempotencyKey, counters)) {
      for (const row of rows) left.delete(row)
      done.requests++
      done.rows += rows.length
      if (repeated) done.repeated += rows.length
      sayProgress(`${done.rows} of ${total} rows imported`)
    }
  }
  endProgress()
  console.log(summary())
  if (done.rows === 0) console.error('The file has no rows to import.')
}

/** Which lines are imported and which are not. @param isRefused whether the last request certainly imported nothing */
function whereStopped({ lines, left, before }: NonNullable<typeof batch>, isRefused: boolean): string {
  const unit = sums === undefined ? 'lines' : 'rows'
  const some = [...left].slice(0, 10).map((row) => lines[row])
  return (
    (before === undefined ? '' : `All ${unit} up to ${before} are imported. `) +
    `Of ${unit} ${lines[0]} to ${lines.at(-1)}, ${left.size} are not${isRefused ? '' : ' (unless by the last request)'}: ` +
    `${some.join(', ')}${left.size > some.length ? ', …' : ''}.`
  )
}

try {
  const open = await openAgain(file)
  const text = () => readText(chunksOf(open()))
  const first = await text()
  const tool = from ?? toolOf(first)
  if (tool === undefined && ((type ?? prefix ?? before ?? host) !== undefined || !query)) {
    throw new RefusedError(
      '--type, --prefix, --before, --host and --no-query are for exports of other counters; this file has rows',
    )
  }
  const mistakes = new Mistakes()
  if (tool !== undefined) sums = await mistakes.all(() => sumExport(tool, first, mistakes))
  const read = async function* (mistakes: Mistakes) {
    yield* sums ?? readImportRows(await text(), mistakes)
  }
  const types = await configuredTypes(worker, sums?.[0]?.type)
  const total = await mistakes.all(() => checkRows(read, types, worker, mistakes))
  if (dryRun) console.log(`Rows that would be imported: ${total}. Nothing was changed.`)
  else {
    const changed = new Mistakes()
    await importRows(sums?.map((row, i) => ({ ...row, line: i + 1 })) ?? read(changed), total, changed)
  }
} catch (error) {
  stop(error, interrupted, `\nSo far: ${summary()}`)
  if (batch !== null) console.error(whereStopped(batch, error instanceof RefusedError && worker.retries === 0))
  if (batch !== null || canContinue(error, interrupted)) {
    console.error('Run the same command again, with the same file, to import the rest. Nothing is added twice.')
  }
}
process.stdin.destroy()
