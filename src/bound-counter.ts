import type { Bindings } from './config/read-settings.ts'
import type { HistoryUnit } from './counters/history/history-range.ts'
import type { Increment } from './counters/write/increment-group.ts'
import { isolateOf } from './isolate.ts'
import * as fields from './openapi/fields.ts'
import type { Caller } from './service/caller.ts'
import { check, checkParameters } from './service/check-input.ts'
import { addToCounters } from './service/count-visit.ts'
import { counterHistoryAnswer } from './service/history.ts'
import {
  counterOfKey,
  countingError,
  hashOfKey,
  listedCounters,
  spelledPrefix,
  typeNamed,
} from './service/named-counters.ts'
import { invalidRequest, type ProblemReport, problemOf, reportOf } from './service/problem.ts'
import { counterAnswer, countersAnswer, totalAnswer } from './service/read.ts'
import { type ListedReading, SEND_AGAIN, takeListedReadings } from './service/take-listed-readings.ts'

const CALL_AGAIN = 'Call again with the same idempotencyKey to count it exactly once.'

/** The result of a call. Nothing is thrown: an error is data, as in the HTTP API. */
export type Outcome<Answer> = ({ ok: true } & Answer) | ({ ok: false } & ProblemReport)

export interface CountCall {
  /** Calls and requests with the same key count once, for `PRUNING.idempotency_hours`. */
  idempotencyKey?: string
}

/** `rolled`: only the total of the last roll-up, from a cache. So an answer is, too, while very much is pending. */
export interface ReadCall {
  consistency?: 'exact' | 'rolled'
}

/** A counter without HTTP, for all types. Counts are bigints: numbers round beyond 2^53. */
export type BoundCounter = ReturnType<typeof bindCounter>

/** Binds a counter to one event of the Worker. @param ctx continues counting after the event has ended */
export function bindCounter(bindings: Bindings, ctx: Pick<ExecutionContext, 'waitUntil'>) {
  const waitUntil = (work: Promise<unknown>) => ctx.waitUntil(work)
  const call = async <Answer extends object>(
    name: string,
    work: (caller: Caller) => Promise<Answer>,
  ): Promise<Outcome<Answer>> => {
    try {
      const isolate = isolateOf(bindings)
      const caller = { isolate, db: isolate.readDb, waitUntil, hasToken: async () => true, wantsFresh: false }
      return { ok: true, ...(await work(caller)) }
    } catch (error) {
      const problem = problemOf(error)
      const report = reportOf(problem)
      if (report.status >= 500) isolateOf(bindings).refused.add(problem, { call: name })
      return { ok: false, ...report }
    }
  }
  /** Otherwise what it does before it joins a group would end with the event. */
  const counting: typeof call = (name, work) => {
    const counted = call(name, work)
    waitUntil(counted)
    return counted
  }
  const count = async (caller: Caller, increments: readonly Increment[], options?: CountCall) => {
    const { idempotencyKey } = options ?? {}
    const key = idempotencyKey === undefined ? undefined : await hashOfKey(idempotencyKey, 'count')
    return (await addToCounters(caller, increments, { key, advice: CALL_AGAIN })) === 'queued'
  }
  const find = async (caller: Caller, given: { type: string; key: string; by?: number | undefined }) => {
    const { key, by, ...named } = check(fields.increment, given)
    const type = typeNamed(caller.isolate, named.type)
    return { caller, type, key, by, counter: await counterOfKey(caller.isolate.addresses, type, key) }
  }

  return {
    /** Adds `by`, by default 1, to one counter, even if nobody awaits it. `queued`: the database is unavailable; it will be counted later. */
    increment: (type: string, key: string, given?: CountCall & { by?: number }) =>
      counting('increment', async (caller) => {
        const { by, ...options } = given ?? {}
        const found = await find(caller, { type, key, by })
        const wrong = countingError(found.type)
        if (wrong !== null) throw invalidRequest([wrong])
        const queued = await count(caller, [{ counter: found.counter, by: BigInt(found.by) }], options)
        return { type: found.type.name, key: found.key, added: found.by, queued }
      }),

    /** Adds `by`, by default 1, to each of up to 1,000 counters: all or none. */
    incrementMany: (given: readonly { type: string; key: string; by?: number }[], options?: CountCall) =>
      counting('incrementMany', async (caller) => {
        const asked = check(fields.incrementList.schema, { increments: given })
        const listed = await listedCounters(caller.isolate, 'increments', asked.increments, countingError)
        const increments = listed.map(({ counter, by }) => ({ counter, by: BigInt(by) }))
        return { accepted: listed.length, queued: await count(caller, increments, options) }
      }),

    /** Sets up to 1,000 counters to counts that arise elsewhere, and books what they have gained as counted now: each by itself. */
    takeReadings: (given: readonly ListedReading[]) =>
      counting('takeReadings', async (caller) => {
        const { readings } = check(fields.readingList.schema, { readings: given })
        const taking = takeListedReadings(caller.isolate, readings).finally(() => caller.isolate.reads.forget())
        return taking.catch((error: unknown) => Promise.reject(problemOf(error, SEND_AGAIN)))
      }),

    /** Reads one counter. A key that was never counted has zeros. `pending` is `null` if `consistency` is `rolled`. */
    read: (type: string, key: string, options: ReadCall = {}) =>
      call('read', async (caller) => {
        const { consistency } = checkParameters(fields.counterQuery, { ...options })
        return (await counterAnswer(await find(caller, { type, key }), consistency)).answer
      }),

    /** Reads up to 1,000 counters of a type, in the order of the keys. Exact counts all come from one snapshot. */
    readMany: (type: string, keys: readonly string[], options: ReadCall = {}) =>
      call('readMany', async (caller) => {
        const of = typeNamed(caller.isolate, type)
        const { key, consistency } = checkParameters(fields.countersQuery, { ...options, key: keys })
        return (await countersAnswer(caller, of, key, consistency)).answer
      }),

    /** Reads the sum of all counters of a type, or of those whose keys begin with a prefix: at most 10,000. */
    total: (type: string, options: ReadCall & { prefix?: string } = {}) =>
      call('total', async (caller) => {
        const asked = checkParameters(fields.totalQuery, { ...options })
        const of = typeNamed(caller.isolate, type)
        return (await totalAnswer(caller, of, spelledPrefix(of, asked.prefix), asked.consistency)).answer
      }),

    /** Reads the counts by hour, day, week or month. `start`, `from` and `to` are clock times in the time zone, with offset. */
    history: (type: string, key: string, range: { by?: HistoryUnit; from?: string; to?: string; tz?: string } = {}) =>
      call('history', async (caller) => {
        const query = checkParameters(fields.historyQuery, { ...range })
        return (await counterHistoryAnswer(await find(caller, { type, key }), query)).answer
      }),
  }
}
