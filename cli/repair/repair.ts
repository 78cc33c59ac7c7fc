// `npm run repair`: has a running Worker make the sums agree that `npm run verify` found wrong.
import { program } from 'commander'
import { visibleKey } from '../../src/visible-key.ts'
import { commandName, commandText } from '../command-name.ts'
import { interruption, stop } from '../interruption.ts'
import { endProgress, sayProgress } from '../progress.ts'
import { counterPath } from '../worker-client.ts'
import { TOKEN_OPTION, URL_OPTION, workerOf } from '../worker-options.ts'

/** A page of verification may read tens of thousands of rows. */
const REQUEST_DEADLINE_MS = 90_000
/** The most days that one request repairs. */
const MAX_DAYS = 100

interface Wrong {
  what: string
  of: 'counter' | 'type'
  start: string | null
  is: number | bigint
  shouldBe: number | bigint
}

program
  .name(commandName('repair'))
  .description(
    'Corrects the sums of a counter and of its type, in one transaction. The days and the count of the counter are not changed: ' +
      'the part of the count beyond days and adjustments becomes an adjustment.',
  )
  .argument('<type>', 'the type of the counter')
  .argument('<key>', 'the key of the counter')
  .addOption(URL_OPTION)
  .addOption(TOKEN_OPTION)
  .option('--dry-run', 'report what is wrong, and change nothing')
  .parse()

const [type, key] = program.args as [string, string]
const options = program.opts<{ url: string; token: string; dryRun?: true }>()
const interrupted = interruption()
const worker = workerOf(options, interrupted, { deadlineMs: REQUEST_DEADLINE_MS })

/** The days of the type that do not agree with its counters. */
async function wrongDays(): Promise<string[]> {
  const days = new Set<string>()
  type Page = { wrong: { type: string | null; what: string; start: string | null }[] }
  for await (const page of worker.pages<Page>('POST', '/v1/verify', { after: 'days.0.' })) {
    for (const { type: of, what, start } of page.wrong) {
      if (of === type && what === 'day') days.add(start!)
    }
    sayProgress(`checking the history of types (${page.next})`)
  }
  endProgress()
  return [...days].sort()
}

try {
  const days = await wrongDays()
  const body = { dryRun: options.dryRun ?? false, days: days.slice(0, MAX_DAYS) }
  const { wrong } = await worker.change<{ wrong: Wrong[] }>('POST', `${counterPath(type, key)}/repair`, body)
  for (const { what, of, start, is, shouldBe } of wrong) {
    const whose = of === 'counter' ? visibleKey(key) : `all of ${type}`
    const then = options.dryRun ? 'should be' : 'now'
    console.log(`${whose}: ${what}${start === null ? '' : ` ${start}`}: ${is}, ${then} ${shouldBe}`)
  }
  const sums = `${wrong.length} ${wrong.length === 1 ? 'sum' : 'sums'}`
  if (wrong.length === 0) console.log('Nothing is wrong.')
  else console.log(options.dryRun ? `${sums} would be repaired. Nothing was changed.` : `${sums} repaired.`)
  if (days.length > MAX_DAYS) console.log(`${days.length - MAX_DAYS} more days of ${type} are wrong. Run this again.`)
} catch (error) {
  stop(error, interrupted, ` Run ${commandText('verify')} to see what is wrong.`)
}
