// `npm run replay`: sends an access log to a running Worker.
import { join, resolve } from 'node:path'
import cliProgress from 'cli-progress'
import { InvalidArgumentError, program } from 'commander'
import { openAccessLog } from './access-log.ts'
import { type Chunk, chunks, type ReplayRules, type Skipped } from './replay-chunks.ts'
import { openShortChunks } from './short-chunks.ts'
import { describeError, RefusedError, WorkerApi } from './worker-api.ts'
import { PROJECT } from './worker-process.ts'

const ARCHIVES = /\.(zip|tar|tgz|gz|bz2|xz|zst|7z|rar|jar|war|whl|gem|deb|rpm|apk|dmg|pkg|exe|msi|iso|img|pdf|epub)$/

function pattern(text: string): RegExp {
  try {
    return new RegExp(text)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : 'It is not a regular expression.')
  }
}

/** @param form what every entry must look like, unless all are wanted */
function list(text: string, form: RegExp): ReadonlySet<string> | null {
  const values = text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
  if (values.includes('all')) return null
  if (values.length === 0 || !values.every((value) => form.test(value)))
    throw new InvalidArgumentError(`Every entry must match ${form}.`)
  return new Set(values)
}

program
  .name('npm run replay --')
  .description(
    'Sends an access log to a running Worker: one count per request, under its path. Combined format or JSON lines, plain ' +
      'or gzip. Safe to run again: lines that were counted within the idempotency window (24 hours) are not counted twice.',
  )
  .argument('<file>', 'the log, or - for standard input')
  .option(
    '--url <url>',
    'where the Worker answers',
    process.env.WORKER_URL ?? `http://127.0.0.1:${process.env.PORT || 8787}`,
  )
  .option('--token <token>', 'the API token (default: API_TOKEN from the environment, else "local")')
  .option('--pages <type>', 'counter type of page views', 'page_view')
  .option('--downloads <type>', 'counter type of downloads', 'download')
  .option('--download-pattern <regex>', 'paths that are downloads (default: archives, packages, PDF)', pattern)
  .option('--methods <list>', 'methods to count, such as GET,POST (default: all)', (text: string) =>
    list(text, /^[A-Z]+$/),
  )
  .option('--statuses <list>', 'statuses to count, such as 200,304 or 2xx,3xx (default: all)', (text: string) =>
    list(text, /^[1-5](xx|\d\d)$/),
  )
  .option('--keep-query', 'keep the query string in the key', false)
  .option('--dated', 'count requests in the days (UTC) in which they were made, for ever recognised as counted', false)
  .parse()

const options = program.opts<{
  url: string
  token?: string
  pages: string
  downloads: string
  downloadPattern?: RegExp
  methods?: ReadonlySet<string> | null
  statuses?: ReadonlySet<string> | null
  keepQuery: boolean
  dated: boolean
}>()
const [file = '-'] = program.args
const token = options.token ?? (process.env.API_TOKEN || 'local')
const rules: ReplayRules = {
  pageType: options.pages,
  downloadType: options.downloads,
  downloads: options.downloadPattern ?? ARCHIVES,
  methods: options.methods ?? null,
  statuses: options.statuses ?? null,
  keepQuery: options.keepQuery,
  ...(options.dated && { dated: true as const }),
}

const began = Date.now()
const sent = { lines: 0, counted: 0, requests: 0, retries: 0 }
const byType = new Map<string, number>()
const skipped: Skipped = new Map()
const interrupted = new AbortController()
// Every time: one Ctrl-C arrives twice, from the terminal and passed on by npm.
process.on('SIGINT', () => interrupted.abort())
process.on('SIGTERM', () => interrupted.abort())
// Who waits for input would wait on.
interrupted.signal.addEventListener('abort', () => process.stdin.destroy())

const api = new WorkerApi({
  url: options.url,
  token,
  signal: interrupted.signal,
  onRetry: (message) => {
    sent.retries++
    console.error(message)
  },
})

/** Sends one chunk; the key makes it harmless to do so again. */
async function send({ idempotencyKey, increments }: Chunk): Promise<void> {
  if (options.dated) {
    const counters = increments.map(({ by, ...where }) => ({ ...where, count: by }))
    await api.post('/v1/imports', { counters }, idempotencyKey)
    return
  }
  await api.post('/v1/increments', { increments }, idempotencyKey)
}

function add(chunk: Chunk): void {
  sent.lines += chunk.lines
  sent.counted += chunk.counted
  for (const { type, by } of chunk.increments) byType.set(type, (byType.get(type) ?? 0) + by)
  for (const [reason, count] of chunk.skipped) skipped.set(reason, (skipped.get(reason) ?? 0) + count)
}

function summary(): string {
  const types = [...byType].map(([type, count]) => `${count} ${type}`).join(', ') || 'nothing'
  const reasons = [...skipped].map(([reason, count]) => `${count} ${reason}`).join(', ')
  const seconds = ((Date.now() - began) / 1_000).toFixed(1)
  return (
    `${sent.lines} lines: counted ${types}${reasons && `; not counted: ${reasons}`}. ` +
    `${sent.requests} requests, ${sent.retries} retries, ${seconds} s.`
  )
}

const bar = new cliProgress.SingleBar(
  { format: ' {bar} {percentage}% | {lines} lines | {eta_formatted} left', hideCursor: true, noTTYOutput: false },
  cliProgress.Presets.shades_classic,
)
try {
  const log = await openAccessLog(file)
  const shortChunks = await openShortChunks(join(resolve(PROJECT, process.env.STATE_DIR || '.local'), 'replay.json'))
  const isTerminal = process.stderr.isTTY && log.size !== null
  if (isTerminal) bar.start(log.size ?? 0, 0, { lines: 0 })
  let notice = Date.now() + 5_000
  for await (const chunk of chunks(log.lines, rules, shortChunks)) {
    if (chunk.increments.length > 0) {
      await send(chunk)
      sent.requests++
    }
    add(chunk)
    if (isTerminal) bar.update(log.bytesRead(), { lines: sent.lines })
    else if (Date.now() > notice) {
      notice = Date.now() + 5_000
      console.error(`${sent.lines} lines sent …`)
    }
  }
  if (isTerminal) bar.update(log.size ?? 0, { lines: sent.lines })
  bar.stop()
  console.log(summary())
  if (sent.lines === 0) console.error('The log is empty.')
} catch (error) {
  bar.stop()
  const reason = interrupted.signal.aborted ? 'Interrupted' : `Stopped: ${describeError(error).replace(/\.+$/, '')}`
  // A file that cannot be read and a request that is refused stay so.
  const isFinal =
    !interrupted.signal.aborted && (error instanceof RefusedError || (error instanceof Error && 'code' in error))
  console.error(`${reason}.\nSo far: ${summary()}`)
  if (!isFinal) console.error('Run the same command again to go on; nothing is counted twice.')
  process.exitCode = interrupted.signal.aborted ? 130 : 1
}
process.stdin.destroy()
