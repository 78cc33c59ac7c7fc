import { DatabaseError, UnknownError } from '@planetscale/database'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Database, Result } from '../../../src/database/database.ts'
import { DatabaseFailure } from '../../../src/database/errors.ts'
import { CircuitBreaker, withBreaker, withRetries } from '../../../src/database/retry-and-breaker.ts'

/** Failures that open it. */
const FAILURES = 5
const OPEN_MS = 250
const MAX_OPEN_MS = 5_000
const FAST = 10
const NOW = Date.UTC(2026, 10, 20)

/** A breaker that has just opened, at `NOW`. */
function opened(): CircuitBreaker {
  const breaker = new CircuitBreaker()
  while (!breaker.open) breaker.failed(NOW, FAST)
  return breaker
}

/** Milliseconds until the breaker admits a statement, which becomes the trial. */
function waitFor(breaker: CircuitBreaker, from: number): number {
  for (let ms = 0; ms <= 1_000_000; ms++) if (breaker.admit(from + ms)) return ms
  return Number.POSITIVE_INFINITY
}

const RESULT: Result = { rows: [{ n: 1 }], rowsAffected: 1 }
const failure = (errno: number) => {
  const message = `target: d.-.primary: (errno ${errno}) (sqlstate ${errno === 1064 ? '42000' : 'HY000'})`
  return new DatabaseError(message, 400, { code: 'UNKNOWN', message })
}
const vtgate = (code: string, message: string) => new DatabaseError(message, 400, { code, message })
const page = (status: number) => new UnknownError('a page', { status, statusText: '', body: '<html>', headers: {} })

/** A database that fails with the given errors one after another, then with `failure` if there is one, or else succeeds. */
class FailingDatabase implements Database {
  readonly ranges = 1
  readonly sent: { sql: string; args: readonly unknown[] | undefined; at: number }[] = []
  failure: unknown
  /** Milliseconds a statement takes. */
  takesMs: number
  readonly #errors: unknown[]
  constructor(errors: readonly unknown[] = [], takesMs = 0) {
    this.#errors = [...errors]
    this.takesMs = takesMs
  }
  async execute(sql: string, args?: readonly unknown[]): Promise<Result> {
    this.sent.push({ sql, args, at: Date.now() })
    vi.setSystemTime(Date.now() + this.takesMs)
    const error = this.#errors.shift() ?? this.failure
    if (error !== undefined) throw error
    return RESULT
  }
  transaction: Database['transaction'] = (work) => work(this)
}

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('a circuit breaker', () => {
  it('admits one trial at a time while it is open', () => {
    const breaker = opened()
    const at = NOW + waitFor(breaker, NOW)
    for (let ms = 0; ms < MAX_OPEN_MS; ms++) expect(breaker.admit(at + ms)).toBe(false)
    // The trial's outcome is never reported, because its request was cancelled.
    expect(breaker.admit(at + MAX_OPEN_MS)).toBe(true)
    expect(breaker.admit(at + MAX_OPEN_MS)).toBe(false)
  })

  it.each([
    ['the shortest pauses', 0, [125, 250, 500, 1_000, 2_000, 2_500, 2_500]],
    ['the longest pauses', 1 - 2 ** -53, [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]],
  ])(
    'waits at random between half a period and all of it, and the period doubles up to a bound: %s',
    (_, random, times) => {
      vi.spyOn(Math, 'random').mockReturnValue(random)
      const breaker = opened()
      let at = NOW
      for (const time of times) {
        const wait = waitFor(breaker, at)
        expect(wait).toBe(time)
        at += wait
        breaker.failed(at, FAST)
      }
    },
  )

  it('does not wait longer if statements fail that were sent before it opened', () => {
    const breaker = opened()
    for (let stragglers = 0; stragglers < 10; stragglers++) breaker.failed(NOW, FAST)
    expect(waitFor(breaker, NOW)).toBeLessThanOrEqual(OPEN_MS)
  })

  it('closes after one success, and then starts again with the short period', () => {
    const breaker = opened()
    for (let at = NOW, trial = 0; trial < 5; trial++) {
      at += waitFor(breaker, at)
      breaker.failed(at, FAST)
    }
    breaker.succeeded()
    expect([breaker.open, breaker.admit(NOW), breaker.admit(NOW)]).toEqual([false, true, true])
    while (!breaker.open) breaker.failed(NOW, FAST)
    expect(waitFor(breaker, NOW)).toBeLessThanOrEqual(OPEN_MS)
  })

  it('in any sequence of events is open as its failures require, no longer than its bound, with one trial at a time', () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ passes: fc.integer({ min: 0, max: 10_000 }) }) },
      { weight: 1, arbitrary: fc.record({ passes: fc.integer({ min: -10_000_000, max: 0 }) }) },
      { weight: 6, arbitrary: fc.record({ fails: fc.constantFrom(0, 999, 1_000, 4_000) }) },
      { weight: 1, arbitrary: fc.constant('succeeds' as const) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const breaker = new CircuitBreaker()
        let now = NOW
        let failures = 0
        /** When a trial began whose outcome is not known yet. */
        let trialAt: number | null = null
        for (const next of steps) {
          if (next === 'succeeds') {
            breaker.succeeded()
            failures = 0
            trialAt = null
          } else if ('fails' in next) {
            breaker.failed(now, next.fails)
            failures += next.fails >= 1_000 ? 3 : 1
            trialAt = null
          } else {
            now += next.passes
            if (next.passes < 0) trialAt = null
          }
          expect(breaker.open).toBe(failures >= FAILURES)
          const admitted = breaker.admit(now)
          if (!breaker.open) expect(admitted).toBe(true)
          else if (admitted) {
            if (trialAt !== null) expect(now - trialAt).toBeGreaterThanOrEqual(MAX_OPEN_MS)
            trialAt = now
          }
        }
        if (!breaker.open) return
        expect(waitFor(breaker, now)).toBeLessThanOrEqual(MAX_OPEN_MS)
      }),
    )
  })
})

describe('a database behind a breaker', () => {
  let database: FailingDatabase
  let breaker: CircuitBreaker
  let guarded: Database
  const send = () => guarded.execute('SELECT 1').catch((error: unknown) => error)

  beforeEach(() => {
    vi.useFakeTimers({ now: NOW })
    database = new FailingDatabase()
    breaker = new CircuitBreaker()
    guarded = withBreaker(database, breaker)
  })

  it('passes results through', async () => {
    expect(await send()).toBe(RESULT)
  })

  it.each([
    ['a cut connection', new TypeError('fetch failed')],
    ['a proxy’s page', page(502)],
    ['too many requests', page(429)],
    ['too many connections', failure(1040)],
    ['a read-only server', failure(1290)],
    ['a server that has gone away', failure(2006)],
  ])('gets no more statements after failures such as %s, and those statements are not applied', async (_, error) => {
    database.failure = error
    for (let sent = 1; sent <= FAILURES; sent++) await send()
    expect(database.sent).toHaveLength(FAILURES)
    expect(await send()).toMatchObject({ kind: 'unavailable', retry: false, applied: 'no' })
    expect(database.sent).toHaveLength(FAILURES)
  })

  it.each([
    ['a deadlock', failure(1213)],
    ['a lock wait timeout', failure(1205)],
    ['a missing table', failure(1146)],
    ['wrong credentials', page(401)],
    ['a number out of range', failure(1264)],
    ['a refused statement', failure(1064)],
    ['a statement that Vitess cannot parse', vtgate('INVALID_ARGUMENT', "syntax error at position 16 near 'next'")],
    ['a statement that Vitess cannot plan', vtgate('UNIMPLEMENTED', 'VT12001: unsupported: OVER CLAUSE')],
  ])('counts as available if it answers with %s', async (_, error) => {
    for (let sent = 1; sent < 100; sent++) {
      database.failure = sent % FAILURES === 0 ? error : failure(2013)
      expect(await send()).toMatchObject({ cause: database.failure })
    }
    expect([breaker.open, database.sent.length]).toEqual([false, 99])
  })

  it('is given up sooner if failures are slow', async () => {
    database.failure = new Error('no answer within 3000 ms')
    database.takesMs = 3_000
    for (let sent = 0; sent < 9; sent++) await send()
    expect(database.sent).toHaveLength(2)
  })

  it('is tried again with one statement after a while, and used again once that succeeds', async () => {
    database.failure = failure(2003)
    while (!breaker.open) await send()
    vi.setSystemTime(Date.now() + OPEN_MS)
    database.sent.length = 0
    await send()
    await send()
    expect(database.sent).toHaveLength(1)
    vi.setSystemTime(Date.now() + 2 * OPEN_MS)
    database.failure = undefined
    expect([await send(), await send(), await send()]).toEqual([RESULT, RESULT, RESULT])
  })

  it('runs transactions while the breaker is open', async () => {
    database.failure = failure(2003)
    while (!breaker.open) await send()
    database.failure = undefined
    expect(await guarded.transaction((transaction) => transaction.execute('SELECT 1'))).toBe(RESULT)
    expect(breaker.open).toBe(true)
  })
})

const DEADLOCK = failure(1213)
const LOST = failure(2013)
const SYNTAX = failure(1064)

async function run(database: Database): Promise<Result | DatabaseFailure> {
  const outcome = withRetries(database)
    .execute('SELECT ?', [1])
    .catch((error: unknown) => {
      if (error instanceof DatabaseFailure) return error
      throw error
    })
  await vi.runAllTimersAsync()
  return outcome
}

describe('a statement with retries', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })

  it('is sent again unchanged after transient failures', async () => {
    const database = new FailingDatabase([DEADLOCK, DEADLOCK])
    expect(await run(database)).toBe(RESULT)
    expect(database.sent.map(({ sql, args }) => [sql, args])).toEqual(Array(3).fill(['SELECT ?', [1]]))
  })

  it('that succeeds reports a straggler if an earlier attempt had an unknown outcome', async () => {
    const database = new FailingDatabase([new TypeError('fetch failed'), DEADLOCK])
    expect(await run(database)).toEqual({ ...RESULT, straggler: true })
  })

  it('that succeeds reports no straggler if all earlier attempts were certainly not applied', async () => {
    expect(await run(new FailingDatabase([page(521), DEADLOCK]))).toBe(RESULT)
  })

  it.each([1064, 1146, 1045, 1264])('is not sent again after a permanent failure: %d', async (errno) => {
    const database = new FailingDatabase([failure(errno)])
    expect(await run(database)).toMatchObject({ retry: false, applied: 'no' })
    expect(database.sent).toHaveLength(1)
  })

  it('is sent at most three times', async () => {
    const database = new FailingDatabase(Array(9).fill(DEADLOCK))
    expect(await run(database)).toMatchObject({ kind: 'contention', applied: 'no' })
    expect(database.sent).toHaveLength(3)
  })

  it('fails with the last error', async () => {
    expect(await run(new FailingDatabase([DEADLOCK, SYNTAX]))).toMatchObject({
      kind: 'rejected',
      message: SYNTAX.message,
      cause: SYNTAX,
    })
  })

  it('has an unknown outcome if any attempt had one', async () => {
    expect(await run(new FailingDatabase([LOST, DEADLOCK, DEADLOCK]))).toMatchObject({
      kind: 'contention',
      applied: 'unknown',
    })
    expect(await run(new FailingDatabase([DEADLOCK, LOST, SYNTAX]))).toMatchObject({
      kind: 'rejected',
      retry: false,
      applied: 'unknown',
    })
    expect(await run(new FailingDatabase([DEADLOCK, DEADLOCK, DEADLOCK]))).toMatchObject({ applied: 'no' })
  })

  it('is not sent again more than three seconds after the first attempt began', async () => {
    const database = new FailingDatabase(Array(9).fill(DEADLOCK), 2_000)
    await run(database)
    expect(database.sent).toHaveLength(2)
  })

  it('waits for random pauses below a bound that doubles', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const database = new FailingDatabase(Array(2).fill(DEADLOCK))
    await run(database)
    const times = database.sent.map(({ at }) => at)
    expect(times.slice(1).map((at, i) => at - times[i]!)).toEqual([25, 50])
  })

  it('does not retry transactions', async () => {
    const database = new FailingDatabase([DEADLOCK])
    const work = vi.fn((transaction: Parameters<Parameters<Database['transaction']>[0]>[0]) =>
      transaction.execute('UPDATE counters SET count = 1'),
    )
    await expect(withRetries(database).transaction(work)).rejects.toBe(DEADLOCK)
    expect(work).toHaveBeenCalledOnce()
    expect(database.sent).toHaveLength(1)
    expect(await withRetries(database).transaction(work)).toBe(RESULT)
  })
})

describe('a statement with retries, to a database behind a breaker', () => {
  const REFUSED = failure(2003)

  beforeEach(() => {
    vi.useFakeTimers()
  })

  it.each([
    ['has an unknown outcome if an earlier attempt had one', [REFUSED, LOST], 'unknown'],
    ['is certainly not applied if no earlier attempt was', [REFUSED, REFUSED], 'no'],
  ] as const)('fails at once when the breaker opens, and %s', async (_, errors, applied) => {
    const before = Array(3).fill(REFUSED)
    const database = new FailingDatabase([...before, ...errors, ...Array(9).fill(REFUSED)])
    const guarded = withBreaker(database, new CircuitBreaker())
    expect(await run(guarded)).toMatchObject({ kind: 'unavailable', retry: true, applied: 'no' })
    expect(await run(guarded)).toMatchObject({ kind: 'unavailable', retry: false, applied })
    expect(database.sent).toHaveLength(5)
    // The next statement is not sent at all.
    expect(await run(guarded)).toMatchObject({ retry: false, applied: 'no' })
    expect(database.sent).toHaveLength(5)
  })
})
