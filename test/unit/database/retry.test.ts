import { DatabaseError, UnknownError } from '@planetscale/database'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Database, Result } from '../../../src/database/database.ts'
import { DatabaseFailure } from '../../../src/database/errors.ts'
import { CircuitBreaker, withBreaker, withRetries } from '../../../src/database/retry-and-breaker.ts'

const failure = (errno: number) => {
  const message = `target: d.-.primary: (errno ${errno}) (sqlstate ${errno === 1064 ? '42000' : 'HY000'})`
  return new DatabaseError(message, 400, { code: 'UNKNOWN', message })
}
const DEADLOCK = failure(1213)
const LOST = failure(2013)
const SYNTAX = failure(1064)
const RESULT: Result = { rows: [{ n: 1 }], rowsAffected: 1 }

/** A database that fails with the given errors one after another, and then succeeds. */
class FailingDatabase implements Database {
  readonly ranges = 1
  readonly sent: { sql: string; args: readonly unknown[] | undefined; at: number }[] = []
  readonly #errors: unknown[]
  /** Milliseconds a statement takes. */
  readonly #takesMs: number
  constructor(errors: readonly unknown[], takesMs = 0) {
    this.#errors = [...errors]
    this.#takesMs = takesMs
  }
  async execute(sql: string, args?: readonly unknown[]): Promise<Result> {
    this.sent.push({ sql, args, at: Date.now() })
    vi.setSystemTime(Date.now() + this.#takesMs)
    if (this.#errors.length > 0) throw this.#errors.shift()
    return RESULT
  }
  transaction: Database['transaction'] = (work) => work(this)
}

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
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
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
    const page = new UnknownError('a page', { status: 521, statusText: '', body: '<html>', headers: {} })
    expect(await run(new FailingDatabase([page, DEADLOCK]))).toBe(RESULT)
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
  afterEach(() => {
    vi.useRealTimers()
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
