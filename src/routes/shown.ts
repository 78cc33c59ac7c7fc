import * as v from 'valibot'
import type { CounterAddress } from '../counters/counter-address.ts'
import { pageKey } from '../counters/keys/key-address.ts'
import { TooManyKeys } from '../counters/keys/prefix.ts'
import { countIn, MAX_READ } from '../counters/read/read-counters.ts'
import { endpoint } from '../http/endpoint.ts'
import { limitReading, readableByAll, revalidated } from '../http/reading.ts'
import { count, operation, READING, route } from '../openapi/contract.ts'
import { InvalidInput } from '../schemas.ts'
import { counterOfKey, listedPrefix } from '../service/named-counters.ts'
import { readCounters, readSum } from '../service/read.ts'

/** Totals that one request may read. One of a prefix takes three statements, and a request of the free plan may send 50. */
const MAX_TOTALS = 8
const RULE = `must be given 1 to ${MAX_READ} times`

// Types are no part of the path: lists of blockers name paths such as `/counters/pages?`.
const whatIsShown = route('get', '/v1/shown', 'anyone', {
  query: () => ({
    of: v.pipe(v.array(v.string(), RULE), v.minLength(1, RULE), v.maxLength(MAX_READ, RULE)),
  }),
})

export const shownContract = () =>
  operation(whatIsShown, 'Reading', 'shown', {
    summary: 'Get the counts on a page',
    description:
      'For the script: counts and totals of public types, in the order of the parameters. Keys may have any spelling, as in hits. An entry that is invalid, not public or beyond the limit of totals is null and does not affect the others.',
    notes: {
      of: `\`TYPE KEY\`, or \`TYPE* PREFIX\` for a total, at most ${MAX_TOTALS} of them. Repeat the parameter for each.`,
    },
    revalidated: true,
    answers: { 200: { description: 'The counts.', schema: v.array(v.nullable(count)) } },
    problems: ['too_many_requests', ...READING],
  })

const answer = endpoint<typeof shownContract>(whatIsShown, async (c, { caller, query }) => {
  await limitReading(c, new Set(query.of.filter((of) => of.includes('* '))).size)
  const { config, addresses } = caller.isolate
  // A total is read once, however often it is asked for.
  const totals = new Map<string, ReturnType<typeof readSum>>()
  /** A total, or a counter, whose count is read with those of all others. */
  const find = async (of: string): Promise<bigint | CounterAddress | null> => {
    const [, name = '', total, text = ''] = /^([\w-]+)(\*?) (.*)$/s.exec(of) ?? []
    const type = config.types.get(name)
    if (!type?.public) return null
    if (!total) return counterOfKey(addresses, type, pageKey(text))
    const prefix = listedPrefix(type, pageKey(text))
    const id = `${name} ${prefix}`
    if (!totals.has(id) && totals.size === MAX_TOTALS) return null
    if (!totals.has(id)) totals.set(id, readSum(caller, type, prefix, 'exact'))
    return countIn((await totals.get(id)!).reading)
  }
  const leaveOut = (error: unknown) => {
    if (error instanceof InvalidInput || error instanceof TooManyKeys) return null
    throw error
  }
  const found = await Promise.all(query.of.map((of) => find(of).catch(leaveOut)))
  const counters = found.filter((each) => typeof each === 'object' && each !== null)
  const { readings } = counters.length > 0 ? await readCounters(caller, counters) : { readings: [] }
  c.header('Cache-Control', 'public, no-cache')
  return found.map((each) => (typeof each === 'object' && each ? countIn(readings[counters.indexOf(each)]!) : each))
})

export const shown: typeof answer = (app) => {
  app.on(['GET', 'OPTIONS'], '/v1/shown', readableByAll, revalidated)
  return answer(app)
}
