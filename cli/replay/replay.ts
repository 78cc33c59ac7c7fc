// `npm run replay`: counts the requests of an access log on a running Worker.
import { join } from 'node:path'
import cliProgress from 'cli-progress'
import { InvalidArgumentError, program } from 'commander'
import { commandName } from '../command-name.ts'
import { interruption } from '../interruption.ts'
import { STATE_DIRECTORY } from '../state-directory.ts'
import { describeError, RefusedError, WorkerClient } from '../worker-client.ts'
import { TOKEN_OPTION, URL_OPTION } from '../worker-options.ts'
import { openAccessLog } from './access-log.ts'
import { type ReplayBatch, replayBatches, type Skipped } from './cut-log-batches.ts'
import type { ReplayRules } from './replay-rules.ts'
import { openLogEnds } from './replayed-log-ends.ts'

const ARCHIVES = /\.(zip|tar|tgz|gz|bz2|xz|zst|7z|rar|jar|war|whl|gem|deb|rpm|apk|dmg|pkg|exe|msi|iso|img|pdf|epub)$/

function pattern(text: string): RegExp {
  try {
    return new RegExp(text)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : 'It is not a regular expression.')
  }
}

/** @param form what every entry must match. The entry `all` gives `null`. */
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
  .name(commandName('replay'))
  .description(
    'Counts the requests of an access log on a running Worker, each under its path. The log is in common or combined format or ' +
      'JSON lines, plain or compressed with gzip. Running it again is safe: lines that were counted within the idempotency ' +
      'window (24 hours) are not counted twice.',
  )
  .argument('<file>', 'the log, or - for standard input')
  .addOption(URL_OPTION)
  .addOption(TOKEN_OPTION)
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
  .option('--dated', 'count requests on the days (UTC) on which they were made; safe to run again at any time', false)
  .parse()

const options = program.opts<{
  url: string
  token: string
  pages: string
  downloads: string
  downloadPattern?: RegExp
  methods?: ReadonlySet<string> | null
  statuses?: ReadonlySet<string> | null
  keepQuery: boolean
  dated: boolean
}>()
const [file = '-'] = program.args
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
const sent = { lines: 0, requests: 0, retries: 0 }
const byType = new Map<string, number>()
const skipped: Skipped = new Map()
const interrupted = interruption()
// Ends a read of standard input that is waiting.
interrupted.signal.addEventListener('abort', () => process.stdin.destroy())

const worker = new WorkerClient({
  url: options.url,
  token: options.token,
  signal: interrupted.signal,
  onRetry: (message) => {
    sent.retries++
    console.error(message)
  },
})

/** Sends a batch. Its key makes it safe to send it again. */
async function send({ idempotencyKey, increments }: ReplayBatch): Promise<void> {
  if (options.dated) {
    const counters = increments.map(({ by, ...where }) => ({ ...where, count: by }))
    await worker.post('/v1/imports', { counters }, idempotencyKey)
    return
  }
  await worker.post('/v1/increments', { increments }, idempotencyKey)
}

function add(batch: ReplayBatch): void {
  sent.lines += batch.lines
  for (const { type, by } of batch.increments) byType.set(type, (byType.get(type) ?? 0) + by)
  for (const [reason, count] of batch.skipped) skipped.set(reason, (skipped.get(reason) ?? 0) + count)
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
  const logEnds = await openLogEnds(join(STATE_DIRECTORY, 'replay.json'))
  const isTerminal = process.stderr.isTTY && log.size !== null
  if (isTerminal) bar.start(log.size ?? 0, 0, { lines: 0 })
  let nextNotice = Date.now() + 5_000
  for await (const batch of replayBatches(log.lines, rules, logEnds)) {
    if (batch.increments.length > 0) {
      await send(batch)
      sent.requests++
    }
    add(batch)
    if (isTerminal) bar.update(log.bytesRead(), { lines: sent.lines })
    else if (Date.now() > nextNotice) {
      nextNotice = Date.now() + 5_000
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
  // Running again does not help if the file cannot be read or the Worker refuses a request.
  const isFinal =
    !interrupted.signal.aborted && (error instanceof RefusedError || (error instanceof Error && 'code' in error))
  console.error(`${reason}.\nSo far: ${summary()}`)
  if (!isFinal) console.error('Run the same command again to continue. Nothing is counted twice.')
  process.exitCode = interrupted.signal.aborted ? 130 : 1
}
process.stdin.destroy()
