// `npm run verify`: has a running Worker check its tables against each other.
import { InvalidArgumentError, program } from 'commander'
import { visibleKey } from '../../src/visible-key.ts'
import { commandName } from '../command-name.ts'
import { interruption, stop } from '../interruption.ts'
import { endProgress, sayProgress } from '../progress.ts'
import { TOKEN_OPTION, URL_OPTION, workerOf } from '../worker-options.ts'

/** A page may read tens of thousands of rows, and reads those of a mismatch twice. */
const REQUEST_DEADLINE_MS = 90_000
const LARGEST_PAGE = 500
/** The most mismatches that are shown. All are counted. */
const MAX_SHOWN = 200
/** Exit codes: some counts are wrong, or the check could not be completed. */
const [WRONG, UNKNOWN] = [1, 2]

/** A mismatch as `POST /v1/verify` reports it. */
interface Mismatch {
  type: string | null
  recordType: number
  key: string | null
  recordId: string | null
  what: string
  start: string | null
  is: number | bigint
  shouldBe: number | bigint
  difference: number | bigint
}

/** The meaning of each kind of mismatch. */
const MEANINGS: Record<string, string> = {
  total: 'the total; should be the sum of its days and adjustments',
  hours: 'the hours of this day; should sum to the day',
  month: 'this month; should be the sum of its days',
  day: 'this day of the type; should be the sum of its counters',
  adjustments: 'the adjustments of the type; should be the sum of those of its counters',
}

program
  .name(commandName('verify'))
  .description(
    'Checks that all totals, days, months and hours agree with each other, for each counter and each type, while ' +
      'counting continues. Exits with 0 if they do, with 1 if something is wrong, and with 2 if the check could not be completed.',
  )
  .addOption(URL_OPTION)
  .addOption(TOKEN_OPTION)
  .option('--after <cursor>', 'continue where an earlier run stopped')
  .option('--limit <counters>', `counters in a page, up to ${LARGEST_PAGE}`, pageSize, LARGEST_PAGE)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : UNKNOWN))
  .parse()

const { limit, after, ...options } = program.opts<{ url: string; token: string; after?: string; limit: number }>()
const interrupted = interruption()
const worker = workerOf(options, interrupted, { deadlineMs: REQUEST_DEADLINE_MS })

function pageSize(text: string): number {
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_PAGE)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${LARGEST_PAGE}.`)
  return limit
}

/** How far the check has come. The ids of most types are hashes, so an id tells which share of its type is done. */
function progress(cursor: string | null): string {
  const [phase = '', type = '', id = ''] = cursor?.split('.') ?? []
  return phase === 'counters' ? `${(BigInt(id) * 100n) >> 64n}% of type ${type}` : 'the history of types'
}

const shown: Mismatch[] = []
let wrong = 0
let checked = 0
let cursor = after
try {
  const query = { limit: String(limit), ...(after !== undefined && { after }) }
  for await (const page of worker.pages<{ checked: number; wrong: Mismatch[] }>('POST', '/v1/verify', query)) {
    checked += page.checked
    wrong += page.wrong.length
    shown.push(...page.wrong.slice(0, MAX_SHOWN - shown.length))
    sayProgress(`${checked} counters checked, ${wrong} mismatches; at ${progress(page.next)}`)
    cursor = page.next ?? cursor
  }
  endProgress()
  if (wrong === 0) console.log(`${checked} counters checked: everything agrees.`)
  else report()
  process.exitCode = wrong > 0 ? WRONG : 0
} catch (error) {
  stop(error, interrupted, ` ${checked} counters were checked.`, UNKNOWN)
  if (wrong > 0) report()
  if (cursor !== undefined) console.error(`To continue from there, add: --after ${cursor}`)
}

/** Shows the mismatches in a table, and below it the meaning of their kinds. */
function report(): void {
  const cells = shown.map((row) => [
    row.type ?? `record_type ${row.recordType}`,
    row.recordId === null ? '(all)' : printable(row.key ?? `record_id ${row.recordId}`),
    row.what,
    row.start ?? '',
    String(row.is),
    String(row.shouldBe),
    row.difference > 0 ? `+${row.difference}` : String(row.difference),
  ])
  const table = [['type', 'key', 'what', 'when', 'is', 'should be', 'by'], ...cells]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  for (const row of table) {
    const padded = row.map((cell, i) => (i < 4 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
    console.log(padded.join('  ').trimEnd())
  }
  console.log()
  for (const what of new Set(shown.map(({ what }) => what))) {
    console.log(`${what.padEnd(6)} ${MEANINGS[what] ?? ''}`.trimEnd())
  }
  if (wrong > shown.length) console.log(`… and ${wrong - shown.length} more`)
  console.log(`\n${checked} counters checked, ${wrong} mismatches.`)
}

/** Cuts long keys. */
function printable(key: string): string {
  const text = visibleKey(key)
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
