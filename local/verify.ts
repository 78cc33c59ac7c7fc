// `npm run verify`: has a running Worker check its tables against each other.
import cliProgress from 'cli-progress'
import { InvalidArgumentError, program } from 'commander'
import pRetry, { AbortError } from 'p-retry'
import { mismatchTable, type WrongRow } from './mismatch-table.ts'

/** A page may read tens of thousands of rows, and what it finds is read twice. */
const REQUEST_DEADLINE_MS = 90_000
const RETRIES = 8
const LARGEST_PAGE = 500
/** Most mismatches that are shown; all are counted. */
const MAX_SHOWN = 200
/** Something is wrong with the counts; it could not be found out. */
const [WRONG, UNKNOWN] = [1, 2]

/** What one page found. Integers keep all their digits as bigints. */
interface Page {
  checked: number
  wrong: WrongRow[]
  next: string | null
}

program
  .name('npm run verify --')
  .description(
    'Checks that every total, day, week, month and hour agrees with the others, of each counter and of each type, while counting goes ' +
      'on. Exits with 0 if all is well, with 1 if something is wrong, with 2 if it could not be found out.',
  )
  .option(
    '--url <url>',
    'where the Worker answers',
    process.env.WORKER_URL ?? `http://127.0.0.1:${process.env.PORT || 8787}`,
  )
  .option('--token <token>', 'the API token (default: API_TOKEN from the environment, else "local")')
  .option('--after <cursor>', 'go on where an earlier run stopped')
  .option('--limit <counters>', `counters in a page, up to ${LARGEST_PAGE}`, pageSize, LARGEST_PAGE)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : UNKNOWN))
  .parse()

const options = program.opts<{ url: string; token?: string; after?: string; limit: number }>()
const token = options.token ?? (process.env.API_TOKEN || 'local')
if (!URL.canParse(options.url)) program.error(`--url must be a URL, such as https://YOUR-WORKER.`)

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())

function pageSize(text: string): number {
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_PAGE)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${LARGEST_PAGE}.`)
  return limit
}

/** Asks for one page, again and again while the failure may pass. */
function verifyPage(after: string | undefined): Promise<Page> {
  const url = new URL('/v1/verify', options.url)
  url.searchParams.set('limit', String(options.limit))
  if (after !== undefined) url.searchParams.set('after', after)
  return pRetry(
    async () => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}` },
        signal: AbortSignal.any([interrupted.signal, AbortSignal.timeout(REQUEST_DEADLINE_MS)]),
      })
      const text = await response.text()
      if (response.ok) return parsePage(text)
      const problem = `the Worker answered ${response.status}: ${problemDetail(text)}`
      throw response.status >= 500 || response.status === 429 ? new Error(problem) : new AbortError(problem)
    },
    {
      retries: RETRIES,
      minTimeout: 250,
      maxTimeout: 10_000,
      randomize: true,
      signal: interrupted.signal,
      onFailedAttempt: ({ error, retriesLeft }) => {
        if (retriesLeft > 0) console.error(`${describe(error)}; trying again (${retriesLeft} left) …`)
      },
    },
  )
}

/** @throws {AbortError} if that is no page: something else answers there */
function parsePage(text: string): Page {
  try {
    const page = JSON.parse(text, (_, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' && !Number.isSafeInteger(value) && context?.source ? BigInt(context.source) : value,
    ) as Page
    if (Array.isArray(page.wrong) && (page.next === null || typeof page.next === 'string')) return page
  } catch {}
  throw new AbortError(`${options.url} answered, but not as this version of the Worker does`)
}

/** What a problem document says; the beginning of anything else. */
function problemDetail(text: string): string {
  try {
    return String((JSON.parse(text) as { detail: unknown }).detail)
  } catch {
    return text.slice(0, 200)
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

const bar = new cliProgress.SingleBar(
  { format: ' {bar} {percentage}% of {part} | {checked} counters checked, {wrong} mismatches', hideCursor: true },
  cliProgress.Presets.shades_classic,
)

/** How far a page lies: ids are hashes for most types, so they tell how much of a type is done. */
function progress(cursor: string | null): { part: string; percent: number } {
  const [phase = '', type = '', id = ''] = cursor?.split('.') ?? []
  if (phase === 'counters') return { part: `type ${type}`, percent: Number((BigInt(id) * 100n) >> 64n) }
  return { part: 'the history of types', percent: cursor === null ? 100 : 0 }
}

const shown: WrongRow[] = []
let wrong = 0
let checked = 0
let cursor = options.after
let notice = Date.now() + 5_000
try {
  const isTerminal = process.stderr.isTTY
  if (isTerminal) bar.start(100, 0, { part: 'type 0', checked, wrong })
  for (;;) {
    const page = await verifyPage(cursor)
    checked += page.checked
    wrong += page.wrong.length
    shown.push(...page.wrong.slice(0, MAX_SHOWN - shown.length))
    const { part, percent } = progress(page.next)
    if (isTerminal) bar.update(percent, { part, checked, wrong })
    else if (Date.now() > notice) {
      notice = Date.now() + 5_000
      console.error(`${checked} counters checked, ${wrong} mismatches; at ${part} …`)
    }
    if (page.next === null) break
    cursor = page.next
  }
  bar.stop()
  report()
  process.exitCode = wrong > 0 ? WRONG : 0
} catch (error) {
  bar.stop()
  const reason = interrupted.signal.aborted ? 'Interrupted' : `Stopped: ${describe(error).replace(/\.+$/, '')}`
  console.error(`${reason}. ${checked} counters were checked.`)
  if (shown.length > 0) report()
  if (cursor !== undefined) console.error(`To go on from there, add: --after ${cursor}`)
  process.exitCode = interrupted.signal.aborted ? 130 : UNKNOWN
}

function report(): void {
  if (wrong === 0) {
    console.log(`${checked} counters checked: everything agrees.`)
    return
  }
  console.log(mismatchTable(shown))
  if (wrong > shown.length) console.log(`… and ${wrong - shown.length} more`)
  console.log(`\n${checked} counters checked, ${wrong} mismatches.`)
}
