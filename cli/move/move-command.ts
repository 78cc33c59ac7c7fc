import { InvalidArgumentError, program } from 'commander'
import { visibleKey } from '../../src/visible-key.ts'
import { commandName } from '../command-name.ts'
import { numberDigits } from '../exact-json.ts'
import { interruption, stopReason } from '../interruption.ts'
import { endProgress, sayProgress } from '../progress.ts'
import { RefusedError } from '../retried.ts'
import { TOKEN_OPTION, URL_OPTION, workerOf } from '../worker-options.ts'

/** Requests at the same time. Each is about one counter. */
const MAX_AT_ONCE = 4
/** The largest page of a search. */
const PAGE = 100
/** The most counters that a dry run lists, and the most refusals that are shown. */
const MAX_SHOWN = 50

/** A command that does the same to one counter, or to all whose keys have a beginning. */
export interface MoveCommand {
  name: 'delete' | 'rename' | 'merge'
  description: string
  /** The option that names the other key; `null` for deletions. */
  other: { flags: string; description: string; at: 'to' | 'into' } | null
  /** What has been done to a counter: `deleted`. */
  done: string
  /** The other key for a counter. Default: what the option says. */
  otherOf?: (key: string, options: { prefix?: string; other: string }) => string
  /** Requests at the same time. Default: 4. */
  atOnce?: number
  /** Why these options cannot be used; `null` if they can. */
  refuse?: (options: { prefix?: string; other: string }) => string | null
}

interface Options {
  url: string
  token: string
  prefix?: string
  below?: bigint
  also?: true
  dryRun?: true
  to?: string
  into?: string
}

/** Runs one of the commands. */
export async function runMove(command: MoveCommand): Promise<void> {
  const { name, description, other: otherOption, atOnce = MAX_AT_ONCE } = command
  program
    .name(commandName(name))
    .description(`${description} If it is interrupted, run it again.`)
    .argument('<type>', 'the type of the counters')
    .argument('[key]', 'the key of one counter')
    .addOption(URL_OPTION)
    .addOption(TOKEN_OPTION)
    .option('--prefix <prefix>', 'all counters whose keys begin with this')
    .option('--below <number>', 'only counters whose counts are below this number', wholeNumber)
    .option('--also', 'the counters of the same keys in the types of `also` too')
    .option('--dry-run', 'list the counters, and change nothing')
  if (otherOption !== null) program.requiredOption(otherOption.flags, otherOption.description)
  program.parse()
  const [type, key] = program.args as [string, string | undefined]
  const options = program.opts<Options>()
  const other = otherOption === null ? '' : (options[otherOption.at] ?? '')
  const { prefix, below, also = false, dryRun } = options
  if ((key === undefined) === (prefix === undefined)) program.error('Name either one key or a --prefix.')
  const refusal = command.refuse?.({ other, ...(prefix !== undefined && { prefix }) })
  if (refusal) program.error(refusal)

  const interrupted = interruption()
  const worker = workerOf(options, interrupted)
  const otherOf = (one: string) => command.otherOf?.(one, { other, ...(prefix !== undefined && { prefix }) }) ?? other
  const addressOf = (one: string) => `/v1/counters/${encodeURIComponent(type)}/${encodeURIComponent(one)}`
  const move = (one: string) => {
    const query = new URLSearchParams({
      ...(below !== undefined && { below: String(below) }),
      ...(also && { also: 'true' }),
    })
    if (otherOption === null) return worker.change('DELETE', `${addressOf(one)}?${query}`)
    return worker.change('POST', `${addressOf(one)}/${name}?${query}`, { [otherOption.at]: otherOf(one) })
  }

  /** Lists the counters with a prefix, before anything is changed. */
  async function list(): Promise<{ key: string; count: bigint }[]> {
    const found: { key: string; count: bigint }[] = []
    for (let after: string | null = ''; after !== null; ) {
      const query = new URLSearchParams({ prefix: prefix!, limit: String(PAGE), ...(after && { after }) })
      const page = JSON.parse(await worker.get(`/v1/search/${encodeURIComponent(type)}?${query}`), numberDigits) as {
        counters: { key: string; count: string }[]
        next: string | null
      }
      found.push(...page.counters.map((counter) => ({ key: counter.key, count: BigInt(counter.count) })))
      after = page.next
    }
    return found.filter(({ key, count }) => (below === undefined || count < below) && otherOf(key) !== key)
  }

  async function single(): Promise<{ key: string; count: bigint }[]> {
    if (below === undefined && dryRun === undefined) return [{ key: key!, count: 0n }]
    const reading = JSON.parse(await worker.get(addressOf(key!)), numberDigits) as { count: string }
    const count = BigInt(reading.count)
    return below === undefined || count < below ? [{ key: key!, count }] : []
  }

  let done = 0
  let gone = 0
  /** Requests without an answer. */
  let unknown = 0
  const refused: string[] = []
  try {
    const counters = await (key === undefined ? list() : single())
    if (dryRun) {
      for (const { key, count } of counters.slice(0, MAX_SHOWN)) console.log(`${count}\t${visibleKey(key)}`)
      if (counters.length > MAX_SHOWN) console.log(`… and ${counters.length - MAX_SHOWN} more`)
      const others = also ? ', with those of the same keys in the types of `also`' : ''
      console.log(`${counted(counters.length)} would be ${command.done}${others}. Nothing was changed.`)
      return
    }
    const left = counters.values()
    // After an error nothing more is begun, and what has been begun is awaited: the report is about all of it.
    let failed = false
    const lanes = Array.from({ length: atOnce }, async () => {
      for (const { key: one } of left) {
        if (failed) return
        try {
          await move(one)
          done++
        } catch (error) {
          // An earlier run, or someone else, was faster.
          if (key === undefined && isRefused(error, 'no_such_counter') && name !== 'merge') gone++
          else if (key === undefined && isRefused(error, 'counter_exists', 'count_not_below', 'no_such_counter')) {
            refused.push(`${visibleKey(one)}: ${error.message}`)
          } else {
            failed = true
            if (!(error instanceof RefusedError)) unknown++
            throw error
          }
        }
        sayProgress(`${done} of ${counted(counters.length)} ${command.done}`)
      }
    })
    const failures = (await Promise.allSettled(lanes)).filter(({ status }) => status === 'rejected')
    if (failures.length > 0) throw (failures[0] as PromiseRejectedResult).reason
    endProgress()
    console.log(`${counted(done)} ${command.done}.${gone > 0 ? ` ${gone} were gone already.` : ''}`)
    for (const line of refused.slice(0, MAX_SHOWN)) console.error(line)
    if (refused.length > 0) {
      console.error(`${counted(refused.length)} not ${command.done}.`)
      process.exitCode = 1
    }
  } catch (error) {
    endProgress()
    const reason = stopReason(error, interrupted)
    // The Worker said no, and would again.
    const advice = error instanceof RefusedError ? '' : ' Run the same command again to continue.'
    const perhaps = unknown > 0 ? `, and perhaps ${unknown} more` : ''
    console.error(`${reason}. ${counted(done)} ${command.done}${perhaps}.${advice}`)
    process.exitCode = interrupted.signal.aborted ? 130 : 1
  }
}

function isRefused(error: unknown, ...codes: string[]): error is RefusedError {
  return error instanceof RefusedError && codes.includes(error.code)
}

function counted(counters: number): string {
  return `${counters} ${counters === 1 ? 'counter' : 'counters'}`
}

function wholeNumber(text: string): bigint {
  if (!/^-?\d{1,19}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return BigInt(text)
}
