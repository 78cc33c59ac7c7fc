// `npm run export`: writes what a running Worker has counted into a file.
import { once } from 'node:events'
import { resolve } from 'node:path'
import { Option, program } from 'commander'
import { EXPORT_FORMATS, type ExportFormat } from './export-format.ts'
import { configuredTypes, type ExportedPage, type ExportPlace, type ExportPlan, exportPages } from './export-pages.ts'
import { NotContinuable, openPartialFile } from './partial-file.ts'
import { describeError, RefusedError, WorkerApi } from './worker-api.ts'

program
  .name('npm run -s export --')
  .description(
    'Writes the counters of a running Worker as CSV or JSON, to standard output or into a file. What it writes, "npm run ' +
      'import" reads.',
  )
  .option(
    '--url <url>',
    'where the Worker answers',
    process.env.WORKER_URL ?? `http://127.0.0.1:${process.env.PORT || 8787}`,
  )
  .option('--token <token>', 'the API token (default: API_TOKEN from the environment, else "local")')
  .option('--type <type...>', 'types to export (default: all)')
  .addOption(new Option('--format <format>', 'how to write').choices(['csv', 'json']).default('csv'))
  .addOption(
    new Option('--by <what>', 'a row for each counter, or for each day of it')
      .choices(['total', 'day'])
      .default('total'),
  )
  .option('-o, --output <file>', 'write into a file; interrupted, the same command goes on where it stopped')
  .addHelpText(
    'after',
    `
Every counter is exact at the instant at which its page is read; pages are read one after another.
By day, what is not rolled up yet belongs to today, and what was set, or imported without a day, is a row without a day.
In CSV, a key that a spreadsheet would take for a formula gets an apostrophe in front (one that already looks like that, one
more); "npm run import" takes it away again.
While -o is at work, the file is called FILE.partial.`,
  )
  .parse()

const options = program.opts<{
  url: string
  token?: string
  type?: string[]
  format: keyof typeof EXPORT_FORMATS
  by: ExportPlan['by']
  output?: string
}>()
const interrupted = new AbortController()
// Every time: one Ctrl-C arrives twice, from the terminal and passed on by npm.
process.on('SIGINT', () => interrupted.abort())
process.on('SIGTERM', () => interrupted.abort())

const api = new WorkerApi({
  url: options.url,
  token: options.token ?? (process.env.API_TOKEN || 'local'),
  signal: interrupted.signal,
  onRetry: (message) => console.error(message),
})
/** Each once. */
const chosen = options.type && [...new Set(options.type)]
const format: ExportFormat = EXPORT_FORMATS[options.format]
const began = Date.now()

/** How far an export is. */
interface Progress {
  types: readonly string[]
  /** `null`: everything is written but the end. */
  place: ExportPlace | null
  rows: number
  nameless: number
}
let progress: Progress = { types: [], place: { type: 0, after: null }, rows: 0, nameless: 0 }

/** Takes a page over and gives its text. */
function take({ rows, next, nameless }: ExportedPage): string {
  const text = rows.length === 0 ? '' : format.rows(rows, progress.rows === 0)
  progress = { ...progress, place: next, rows: progress.rows + rows.length, nameless: progress.nameless + nameless }
  if (process.stderr.isTTY) process.stderr.write(`\r${progress.rows} rows …`)
  else notify()
  return text
}

let notice = Date.now() + 5_000
function notify(): void {
  if (Date.now() < notice) return
  notice = Date.now() + 5_000
  console.error(`${progress.rows} rows …`)
}

async function typeNames(): Promise<string[]> {
  return (await configuredTypes(api)).map(({ name }) => name)
}

async function toFile(output: string): Promise<void> {
  const { url, by } = options
  const purpose = JSON.stringify({ url, types: chosen, format: options.format, by })
  const file = await openPartialFile<Progress>(resolve(output), purpose)
  try {
    if (file.state === null) {
      progress = { ...progress, types: chosen ?? (await typeNames()) }
      await file.append(format.begin, progress)
    } else {
      progress = file.state
      console.error(`Going on after ${progress.rows} rows.`)
    }
    if (progress.place !== null) {
      for await (const page of exportPages(api, { types: progress.types, by }, progress.place)) {
        const text = take(page)
        await file.append(page.next === null ? text + format.end : text, progress)
      }
    }
    await file.finish()
  } catch (error) {
    await file.close().catch(() => {})
    throw error
  }
}

async function toOutput(): Promise<void> {
  const types = chosen ?? (await typeNames())
  await write(format.begin)
  for await (const page of exportPages(api, { types, by: options.by }, progress.place!)) await write(take(page))
  await write(format.end)
}

// Whoever reads may have had enough.
let readerIsGone = false
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  readerIsGone = true
  interrupted.abort()
})

async function write(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain', { signal: interrupted.signal })
}

try {
  await (options.output === undefined ? toOutput() : toFile(options.output))
  if (process.stderr.isTTY) process.stderr.write('\r')
  console.error(`${progress.rows} rows exported in ${((Date.now() - began) / 1_000).toFixed(1)} s.`)
  if (progress.nameless > 0) {
    console.error(`${progress.nameless} rows were left out: the names of their counters are not stored.`)
    process.exitCode = 2
  }
} catch (error) {
  if (!readerIsGone) {
    const reason = interrupted.signal.aborted ? 'Interrupted' : `Stopped: ${describeError(error).replace(/\.+$/, '')}`
    console.error(`${reason}.`)
    const isFinal = error instanceof RefusedError || error instanceof NotContinuable
    if (options.output !== undefined && (interrupted.signal.aborted || !isFinal)) {
      console.error('Run the same command again to go on.')
    }
  }
  process.exitCode = interrupted.signal.aborted ? (readerIsGone ? 141 : 130) : 1
}
