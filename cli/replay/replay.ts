// `npm run replay`: counts the requests of an access log on a running Worker.
import { join } from 'node:path'
import { InvalidArgumentError, Option, program } from 'commander'
import { commandName } from '../command-name.ts'
import { SplitImports } from '../import/split-imports.ts'
import { canContinue, interruption, stop } from '../interruption.ts'
import { endProgress, sayProgress } from '../progress.ts'
import { RefusedError } from '../retried.ts'
import { STATE_DIRECTORY } from '../state-directory.ts'
import { TOKEN_OPTION, URL_OPTION, workerOf } from '../worker-options.ts'
import { openAccessLog } from './access-log.ts'
import { type ReplayBatch, replayBatches } from './cut-log-batches.ts'
import { DOWNLOADS, type ReplayRules } from './replay-rules.ts'
import { openRunMemory, type RunMemory } from './run-memory.ts'

/** How long the Worker recognizes a batch, unless it is dated: `PRUNING.idempotency_hours` by default. */
const RECOGNIZED_MS = 24 * 3_600_000

function pattern(text: string): RegExp {
  try {
    return new RegExp(text)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : 'It is not a regular expression.')
  }
}

program
  .name(commandName('replay'))
  .description(
    'Counts the requests of an access log on a running Worker, each under its path. The log is in common or combined format or ' +
      'JSON lines (of nginx, Envoy, Kong, Traefik, Caddy or Cloudflare Logpush), plain or compressed with gzip. It leaves out ' +
      'what the Worker would not have counted: bots, HEAD, parts of files, files of pages, failures and redirects. Running it again ' +
      'is safe: lines that were counted within the idempotency window (24 hours) are not counted twice.',
  )
  .argument('<file>', 'the log, or - for standard input')
  .addOption(URL_OPTION)
  .addOption(TOKEN_OPTION)
  .option('--pages <type>', 'counter type of page views', 'page_view')
  .option('--downloads <type>', 'counter type of downloads', 'download')
  .addOption(
    new Option('--download-pattern <regex>', 'paths that are downloads')
      .argParser(pattern)
      .default(DOWNLOADS, 'archives, packages, documents, media'),
  )
  .option('--all', 'count every request, including bots and failed requests', false)
  .option('--keep-query', 'keep the query string in the key', false)
  .option('--dated', 'count requests on the days (UTC) on which they were made; safe to run again at any time', false)
  .parse()

const { pages, downloads, downloadPattern, all, keepQuery, dated, ...options } = program.opts<{
  url: string
  token: string
  pages: string
  downloads: string
  downloadPattern: RegExp
  all: boolean
  keepQuery: boolean
  dated: boolean
}>()
const [file = '-'] = program.args
const rules: ReplayRules = {
  pageType: pages,
  downloadType: downloads,
  downloads: downloadPattern,
  all,
  keepQuery,
  ...(dated && { dated }),
}

const began = Date.now()
const sent = { lines: 0, requests: 0, repeated: 0 }
const byType = new Map<string, number>()
const skipped = new Map<string, number>()
const interrupted = interruption()
// Ends a read of standard input that is waiting.
interrupted.signal.addEventListener('abort', () => process.stdin.destroy())

const worker = workerOf(options, interrupted)
const imports = new SplitImports(worker)

/** Sends a batch. Its key makes it safe to send it again. @returns whether the Worker had counted it */
async function send({ idempotencyKey, increments }: ReplayBatch, memory: RunMemory): Promise<boolean> {
  if (dated) {
    const counters = increments.map(({ by, ...where }) => ({ ...where, count: by }))
    try {
      let isRepeated = true
      for await (const { repeated } of imports.send(idempotencyKey, counters)) isRepeated &&= repeated
      return isRepeated
    } catch (error) {
      // The same lines. An earlier version of the rules counted others of them.
      if (error instanceof RefusedError && error.code === 'idempotency_key_reused') return true
      throw error
    }
  }
  await worker.post('/v1/increments', { increments }, idempotencyKey)
  const entry = `${idempotencyKey} ${options.url}`
  const isRepeated = memory.has(entry, RECOGNIZED_MS)
  await memory.add(entry)
  return isRepeated
}

function add({ lines, increments, skipped: left }: ReplayBatch, isRepeated: boolean): void {
  sent.lines += lines
  for (const { type, by } of increments) {
    if (isRepeated) sent.repeated += by
    else byType.set(type, (byType.get(type) ?? 0) + by)
  }
  for (const [reason, count] of left) skipped.set(reason, (skipped.get(reason) ?? 0) + count)
}

function summary(): string {
  const types = [...byType].map(([type, count]) => `${count} ${type}`).join(', ') || 'nothing'
  const repeated = sent.repeated > 0 ? `; counted before: ${sent.repeated}` : ''
  const reasons = [...skipped].map(([reason, count]) => `${count} ${reason}`).join(', ')
  const seconds = ((Date.now() - began) / 1_000).toFixed(1)
  return (
    `${sent.lines} lines: counted ${types}${repeated}${reasons && `; not counted: ${reasons}`}. ` +
    `${sent.requests} requests, ${worker.retries} retries, ${seconds} s.`
  )
}

try {
  const log = await openAccessLog(file)
  const memory = await openRunMemory(join(STATE_DIRECTORY, 'replay.json'))
  for await (const batch of replayBatches(log.lines, rules, memory)) {
    let isRepeated = false
    if (batch.increments.length > 0) {
      isRepeated = await send(batch, memory)
      sent.requests++
    }
    add(batch, isRepeated)
    const percent = log.size === null ? '' : `${Math.floor((100 * log.bytesRead()) / log.size)}%, `
    sayProgress(`${percent}${sent.lines} lines sent`)
  }
  endProgress()
  console.log(summary())
  if (sent.lines === 0) console.error('The log is empty.')
} catch (error) {
  stop(error, interrupted, `\nSo far: ${summary()}`)
  if (canContinue(error, interrupted)) {
    console.error('Run the same command again to continue. Nothing is counted twice.')
  }
}
process.stdin.destroy()
