// `npm run import`: brings counts from a file into a running Worker.
import cliProgress from 'cli-progress'
import { Option, program } from 'commander'
import { counterOf } from '../src/counters/counter.ts'
import { type CountFormat, readCountRows } from './count-rows.ts'
import { configuredTypes } from './export-pages.ts'
import { type ImportChunk, importChunks } from './import-chunks.ts'
import { openInputFile } from './input-file.ts'
import { LineError } from './json-objects.ts'
import { describeError, RefusedError, WorkerApi } from './worker-api.ts'

/** Mistakes that are listed. */
const MAX_LISTED = 10

program
  .name('npm run import --')
  .description(
    'Adds counts from a file to the counters of a running Worker: CSV with the header type,key,count or type,key,count,day, ' +
      'a JSON array of objects with these members, or JSON lines; plain or gzip. Counts with a day (UTC) go into the history ' +
      'of that day, those without only into the total.',
  )
  .argument('<file>', 'the file, or - for standard input')
  .option(
    '--url <url>',
    'where the Worker answers',
    process.env.WORKER_URL ?? `http://127.0.0.1:${process.env.PORT || 8787}`,
  )
  .option('--token <token>', 'the API token (default: API_TOKEN from the environment, else "local")')
  .option('--name <name>', 'what this import is called', '')
  .addOption(new Option('--format <format>', 'what the file is (default: what it looks like)').choices(['csv', 'json']))
  .addHelpText(
    'after',
    `
An import is recognised by its --name and its rows, a thousand at a time in their order: whatever the file is called, plain or
compressed, CSV or JSON. Run again after an interruption, the same command changes nothing that was done and does the rest.
That holds for ever, whatever has been counted or set since: the marks are kept with the counters. So
- to add the same numbers once more on purpose, give another --name;
- put rows that come later into a file of their own: appended to this one, they change its last thousand, which would be added
  as a whole.
A file is read through before anything is sent: if a row is wrong, nothing is imported, and the line is named. From standard
input, what comes before that line is imported.
An apostrophe before a key that begins with = + - @, a tab or a line break is left out, as "npm run export" puts it there to
keep spreadsheets from taking the key for a formula.`,
  )
  .parse()

const options = program.opts<{ url: string; token?: string; name: string; format?: CountFormat }>()
const [file = '-'] = program.args
const interrupted = new AbortController()
// Every time: one Ctrl-C arrives twice, from the terminal and passed on by npm.
process.on('SIGINT', () => interrupted.abort())
process.on('SIGTERM', () => interrupted.abort())
// Who waits for input would wait on.
interrupted.signal.addEventListener('abort', () => process.stdin.destroy())

const began = Date.now()
const done = { rows: 0, repeated: 0, requests: 0, retries: 0 }
const api = new WorkerApi({
  url: options.url,
  token: options.token ?? (process.env.API_TOKEN || 'local'),
  signal: interrupted.signal,
  onRetry: (message) => {
    done.retries++
    console.error(message)
  },
})

/** Reads the file to its end, so that a mistake is found before anything is imported. Returns its number of rows. */
async function check(): Promise<number> {
  const types = new Map((await configuredTypes(api)).map((type) => [type.name, type]))
  const { chunks } = await openInputFile(file)
  const mistakes: string[] = []
  let rows = 0
  for await (const { line, type: name, key } of readCountRows(chunks, options.format)) {
    const type = types.get(name)
    if (type === undefined) mistakes.push(`line ${line}: type is not a configured counter type`)
    else await counterOf(type, key).catch(({ message }: Error) => mistakes.push(`line ${line}: key ${message}`))
    if (mistakes.length === MAX_LISTED) break
    rows++
    interrupted.signal.throwIfAborted()
  }
  if (mistakes.length > 0) throw new RefusedError(`the Worker does not count these:\n${mistakes.join('\n')}`)
  return rows
}

async function send({ idempotencyKey, counters, lines }: ImportChunk): Promise<void> {
  try {
    const { repeated } = await api.post('/v1/imports', { counters }, idempotencyKey)
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

const bar = new cliProgress.SingleBar(
  { format: ' {bar} {percentage}% | {value} of {total} rows | {eta_formatted} left', hideCursor: true },
  cliProgress.Presets.shades_classic,
)
try {
  const total = file === '-' ? null : await check()
  const isTerminal = process.stderr.isTTY && total !== null
  if (isTerminal) bar.start(total, 0)
  let notice = Date.now() + 5_000
  const { chunks } = await openInputFile(file)
  for await (const chunk of importChunks(readCountRows(chunks, options.format), options.name)) {
    await send(chunk)
    if (isTerminal) bar.update(done.rows)
    else if (Date.now() > notice) {
      notice = Date.now() + 5_000
      console.error(`${done.rows} rows imported …`)
    }
  }
  bar.stop()
  console.log(summary())
  if (done.rows === 0) console.error('The file has no rows.')
} catch (error) {
  bar.stop()
  const reason = interrupted.signal.aborted ? 'Interrupted' : `Stopped: ${describeError(error).replace(/\.+$/, '')}`
  console.error(`${reason}.\nSo far: ${summary()}`)
  const isFinal =
    error instanceof RefusedError || error instanceof LineError || (error instanceof Error && 'code' in error)
  if (interrupted.signal.aborted || !isFinal) {
    console.error('Run the same command again to go on; nothing is added twice.')
  } else if (done.rows > 0) {
    console.error('Correct it and run the command again to go on; what comes before it is not added twice.')
  }
  process.exitCode = interrupted.signal.aborted ? 130 : 1
}
process.stdin.destroy()
