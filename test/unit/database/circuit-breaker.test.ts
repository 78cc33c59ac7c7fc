import { DatabaseError, UnknownError } from '@planetscale/database'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Database, Result } from '../../../src/database/database.ts'
import { CircuitBreaker, withBreaker } from '../../../src/database/retry-and-breaker.ts'

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

afterEach(() => {
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

const RESULT: Result = { rows: [], rowsAffected: 1 }
const errno = (number: number, state = 'HY000') => {
  const message = `target: d.-.primary: (errno ${number}) (sqlstate ${state})`
  return new DatabaseError(message, 400, { code: 'UNKNOWN', message })
}
const vtgate = (code: string, message: string) => new DatabaseError(message, 400, { code, message })
const page = (status: number) => new UnknownError('a page', { status, statusText: '', body: '<html>', headers: {} })

/** A database that fails with a given error after a given time. */
class FailingDatabase implements Database {
  readonly ranges = 1
  sent = 0
  failure: unknown
  takesMs = 0
  async execute(): Promise<Result> {
    this.sent++
    vi.setSystemTime(Date.now() + this.takesMs)
    if (this.failure !== undefined) throw this.failure
    return RESULT
  }
  transaction: Database['transaction'] = (work) => work(this)
}

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
  afterEach(() => {
    vi.useRealTimers()
  })

  it('passes results through', async () => {
    expect(await send()).toBe(RESULT)
  })

  it.each([
    ['a cut connection', new TypeError('fetch failed')],
    ['a proxy’s page', page(502)],
    ['too many requests', page(429)],
    ['too many connections', errno(1040)],
    ['a read-only server', errno(1290)],
    ['a server that has gone away', errno(2006)],
  ])('gets no more statements after failures such as %s, and those statements are not applied', async (_, failure) => {
    database.failure = failure
    for (let sent = 1; sent <= FAILURES; sent++) await send()
    expect(database.sent).toBe(FAILURES)
    expect(await send()).toMatchObject({ kind: 'unavailable', retry: false, applied: 'no' })
    expect(database.sent).toBe(FAILURES)
  })

  it.each([
    ['a deadlock', errno(1213)],
    ['a lock wait timeout', errno(1205)],
    ['a missing table', errno(1146)],
    ['wrong credentials', page(401)],
    ['a number out of range', errno(1264)],
    ['a refused statement', errno(1064, '42000')],
    ['a statement that Vitess cannot parse', vtgate('INVALID_ARGUMENT', "syntax error at position 16 near 'next'")],
    ['a statement that Vitess cannot plan', vtgate('UNIMPLEMENTED', 'VT12001: unsupported: OVER CLAUSE')],
  ])('counts as available if it answers with %s', async (_, failure) => {
    for (let sent = 1; sent < 100; sent++) {
      database.failure = sent % FAILURES === 0 ? failure : errno(2013)
      expect(await send()).toMatchObject({ cause: database.failure })
    }
    expect([breaker.open, database.sent]).toEqual([false, 99])
  })

  it('is given up sooner if failures are slow', async () => {
    database.failure = new Error('no answer within 3000 ms')
    database.takesMs = 3_000
    for (let sent = 0; sent < 9; sent++) await send()
    expect(database.sent).toBe(2)
  })

  it('is tried again with one statement after a while, and used again once that succeeds', async () => {
    database.failure = errno(2003)
    while (!breaker.open) await send()
    vi.setSystemTime(Date.now() + OPEN_MS)
    database.sent = 0
    await send()
    await send()
    expect(database.sent).toBe(1)
    vi.setSystemTime(Date.now() + 2 * OPEN_MS)
    database.failure = undefined
    expect([await send(), await send(), await send()]).toEqual([RESULT, RESULT, RESULT])
  })

  it('runs transactions while the breaker is open', async () => {
    database.failure = errno(2003)
    while (!breaker.open) await send()
    database.failure = undefined
    expect(await guarded.transaction((transaction) => transaction.execute('SELECT 1'))).toBe(RESULT)
    expect(breaker.open).toBe(true)
  })
})
