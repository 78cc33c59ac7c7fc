import { InvalidArgumentError, program } from 'commander'
import { visibleKey } from '../../src/visible-key.ts'
import { commandName } from '../command-name.ts'
import { interruption, stop } from '../interruption.ts'
import { endProgress, sayProgress } from '../progress.ts'
import { RefusedError } from '../retried.ts'
import { counterPath } from '../worker-client.ts'
import { TOKEN_OPTION, URL_OPTION, workerOf } from '../worker-options.ts'

/** The largest page of a search. */
const PAGE = 100
/** The most counters that a dry run lists, and the most refusals that are shown. */
const MAX_SHOWN = 50

/** A command that does the same to one counter, or to all whose keys have a beginning. */
export interface MoveCommand {
  name: 'delete' | 'rename' | 'merge'
  description: string
  /** The option that names the other key, which has the same name in the API. */
  target?: { option: 'to' | 'into'; description: string }
  /** What has been done to a counter: `deleted`. */
  done: string
  /** Requests at the same time. Each is about one counter. */
  atOnce: number
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

interface Counter {
  key: string
  count: number | bigint
}

export async function runMove({ name, description, target, done: verb, atOnce }: MoveCommand): Promise<void> {
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
  if (target !== undefined) program.requiredOption(`--${target.option} <key>`, target.description)
  program.parse()
  const [type, key] = program.args as [string, string | undefined]
  const { prefix, below, also, dryRun, to, into = '', ...options } = program.opts<Options>()
  if ((key === undefined) === (prefix === undefined)) program.error('Name either one key or a --prefix.')
  // What was renamed would be found and renamed again when the command is repeated.
  if (prefix !== undefined && to?.startsWith(prefix)) {
    program.error('With --prefix, the new keys must not begin with the prefix.')
  }

  const interrupted = interruption()
  const worker = workerOf(options, interrupted)
  const newKey = (one: string) => (to === undefined ? into : to + one.slice(prefix?.length ?? one.length))
  const query = new URLSearchParams({
    ...(below !== undefined && { below: String(below) }),
    ...(also && { also: 'true' }),
  })
  const move = (one: string) =>
    target === undefined
      ? worker.change('DELETE', `${counterPath(type, one)}?${query}`)
      : worker.change('POST', `${counterPath(type, one)}/${name}?${query}`, { [target.option]: newKey(one) })

  /** Lists the counters, before anything is changed. */
  async function list(): Promise<Counter[]> {
    const found: Counter[] = []
    if (key === undefined) {
      const search = `/v1/search/${encodeURIComponent(type)}`
      const query = { prefix: prefix!, limit: String(PAGE) }
      for await (const { counters } of worker.pages<{ counters: Counter[] }>('GET', search, query)) {
        found.push(...counters.filter(({ key }) => newKey(key) !== key))
      }
    } else if (below === undefined && !dryRun) found.push({ key, count: 0 })
    else found.push({ ...(await worker.get<Counter>(counterPath(type, key))), key })
    return found.filter(({ count }) => below === undefined || count < below)
  }

  let done = 0
  let gone = 0
  /** Requests without an answer. */
  let unknown = 0
  const refused: string[] = []
  try {
    const counters = await list()
    if (dryRun) {
      for (const { key, count } of counters.slice(0, MAX_SHOWN)) console.log(`${count}\t${visibleKey(key)}`)
      if (counters.length > MAX_SHOWN) console.log(`… and ${counters.length - MAX_SHOWN} more`)
      const others = also ? ', with those of the same keys in the types of `also`' : ''
      console.log(`${counted(counters.length)} would be ${verb}${others}. Nothing was changed.`)
      return
    }
    const left = counters.values()
    // After an error nothing more is begun, and what has been begun is awaited: the report is about all of it.
    let failure: { error: unknown } | undefined
    const lane = async () => {
      for (const { key: one } of left) {
        if (failure !== undefined) return
        try {
          await move(one)
          done++
        } catch (error) {
          // An earlier run, or someone else, was faster.
          if (key === undefined && name !== 'merge' && isRefused(error, 'no_such_counter')) gone++
          else if (key === undefined && isRefused(error, 'counter_exists', 'count_not_below', 'no_such_counter')) {
            refused.push(`${visibleKey(one)}: ${error.message}`)
          } else {
            failure ??= { error }
            if (!(error instanceof RefusedError)) unknown++
          }
        }
        sayProgress(`${done} of ${counted(counters.length)} ${verb}`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, lane))
    if (failure !== undefined) throw failure.error
    endProgress()
    console.log(`${counted(done)} ${verb}.${gone > 0 ? ` ${gone} no longer existed.` : ''}`)
    for (const line of refused.slice(0, MAX_SHOWN)) console.error(line)
    if (refused.length > 0) {
      console.error(`${counted(refused.length)} not ${verb}.`)
      process.exitCode = 1
    }
  } catch (error) {
    const perhaps = unknown > 0 ? `, and perhaps ${unknown} more` : ''
    // The Worker said no, and would again.
    const advice = error instanceof RefusedError ? '' : ' Run the same command again to continue.'
    stop(error, interrupted, ` ${counted(done)} ${verb}${perhaps}.${advice}`)
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
