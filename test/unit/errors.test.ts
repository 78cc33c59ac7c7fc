import { DatabaseError, UnknownError } from '@planetscale/database'
import { describe, expect, it } from 'vitest'
import { classify, DatabaseFailure, type FailureClass } from '../../src/database/errors.ts'

/** An error of a statement, in the words that vtgate passes on. */
function vitess(errno: number, what: string, sql = 'insert into counter_totals values (1)'): DatabaseError {
  const state = { 1062: '23000', 1064: '42000', 1242: '21000', 1292: '22007' }[errno] ?? 'HY000'
  const message =
    `target: counters.-.primary: vttablet: rpc error: code = Unknown desc = ${what} (errno ${errno}) (sqlstate ${state}) ` +
    `(CallerID: 1a2b3c): Sql: ${JSON.stringify(sql)}, BindVars: {REDACTED}`
  return new DatabaseError(message, 400, { code: 'UNKNOWN', message })
}
const seen = (error: unknown): FailureClass => {
  const { kind, retry, applied } = classify(error)
  return { kind, retry, applied }
}

const UNAVAILABLE = { kind: 'unavailable', retry: true }
const CONTENTION = { kind: 'contention', retry: true, applied: 'no' }
const UNKNOWN_OUTCOME = { ...UNAVAILABLE, applied: 'unknown' }

describe('a failure', () => {
  it.each([
    [1020, 'Record has changed since last read in table', CONTENTION],
    [1205, 'Lock wait timeout exceeded; try restarting transaction', CONTENTION],
    [1213, 'Deadlock found when trying to get lock; try restarting transaction', CONTENTION],
    [1040, 'Too many connections', { ...UNAVAILABLE, applied: 'no' }],
    [1203, 'transaction pool connection limit exceeded', { ...UNAVAILABLE, applied: 'no' }],
    [1290, 'The MySQL server is running with the --read-only option', { ...UNAVAILABLE, applied: 'no' }],
    [1836, 'Running in read-only mode', { ...UNAVAILABLE, applied: 'no' }],
    [2002, "Can't connect to local MySQL server through socket", { ...UNAVAILABLE, applied: 'no' }],
    [2003, "Can't connect to MySQL server", { ...UNAVAILABLE, applied: 'no' }],
    [1053, 'Server shutdown in progress', UNKNOWN_OUTCOME],
    [1105, 'primary is not serving, there is a reparent operation in progress', UNKNOWN_OUTCOME],
    [1317, 'Query execution was interrupted', UNKNOWN_OUTCOME],
    [2006, 'MySQL server has gone away', UNKNOWN_OUTCOME],
    [2013, 'Lost connection to MySQL server during query', UNKNOWN_OUTCOME],
    [1044, "Access denied for user 'u' to database 'd'", { kind: 'credentials', retry: false, applied: 'no' }],
    [1045, "Access denied for user 'u'", { kind: 'credentials', retry: false, applied: 'no' }],
    [1049, "Unknown database 'd'", { kind: 'schema', retry: false, applied: 'no' }],
    [1054, "Unknown column 'pending' in 'where clause'", { kind: 'schema', retry: false, applied: 'no' }],
    [1146, "Table 'counters.slotted_counters' doesn't exist", { kind: 'schema', retry: false, applied: 'no' }],
    [1264, "Out of range value for column 'count' at row 1", { kind: 'range', retry: false, applied: 'no' }],
    [1690, "BIGINT value is out of range in '(count + 1)'", { kind: 'range', retry: false, applied: 'no' }],
    [1064, 'You have an error in your SQL syntax', { kind: 'rejected', retry: false, applied: 'no' }],
    [1062, "Duplicate entry '1-2-3' for key 'PRIMARY'", { kind: 'rejected', retry: false, applied: 'no' }],
    [1242, 'Subquery returns more than 1 row', { kind: 'rejected', retry: false, applied: 'no' }],
    [1292, "Incorrect datetime value: 'x'", { kind: 'rejected', retry: false, applied: 'no' }],
    [1180, 'Got error 5 - Input/output error during COMMIT', UNKNOWN_OUTCOME],
    [1927, 'Connection was killed', UNKNOWN_OUTCOME],
    [3024, 'Query execution was interrupted, maximum statement execution time exceeded', UNKNOWN_OUTCOME],
  ] as const)('%d (%s) is what it is', (errno, what, expected) => {
    expect(seen(vitess(errno, what))).toEqual(expected)
  })

  it('is told by its own number, not by one in the statement', () => {
    const text = '(errno 1213) (sqlstate 40001)'
    expect(seen(vitess(2013, 'Lost connection', `insert into counter_names values ('${text}')`))).toEqual(
      UNKNOWN_OUTCOME,
    )
  })

  it.each([401, 403])('with HTTP %d is one of the credentials, whatever it says', (status) => {
    const body = { code: 'UNAUTHENTICATED', message: 'invalid credentials (errno 1213)' }
    expect(seen(new DatabaseError(body.message, status, body))).toEqual({
      kind: 'credentials',
      retry: false,
      applied: 'no',
    })
  })

  it('keeps what the driver said and the driver’s error', () => {
    const cause = vitess(1213, 'Deadlock found')
    const failure = classify(cause)
    expect(failure).toBeInstanceOf(DatabaseFailure)
    expect(failure).toMatchObject({ name: 'DatabaseFailure', message: cause.message, cause })
    expect(classify('text')).toMatchObject({ message: 'text', cause: 'text' })
  })

  it('that was classified already stays the same', () => {
    const failure = classify(vitess(1213, 'Deadlock found'))
    expect(classify(failure)).toBe(failure)
    const larger = failure.withApplied('unknown')
    expect(larger).toMatchObject({ kind: 'contention', retry: true, applied: 'unknown', message: failure.message })
    expect(larger.cause).toBe(failure.cause)
    expect(classify(larger)).toBe(larger)
    expect(failure.applied).toBe('no')
  })
})

describe('an answer that is not the database’s', () => {
  const page = (status: number) =>
    new UnknownError(`Cloudflare error: HTTP ${status} (not a database error)`, {
      status,
      statusText: '',
      body: '<html>(errno 1213) (sqlstate 40001)</html>',
      headers: {},
    })

  it.each([429, 521, 523, 525, 526, 530])('of HTTP %d means that the statement was not delivered', (status) => {
    expect(seen(page(status))).toEqual({ ...UNAVAILABLE, applied: 'no' })
    // In JSON too, whatever it says.
    const body = { code: 'UNAVAILABLE', message: 'try again (errno 2013) (sqlstate HY000)' }
    expect(seen(new DatabaseError(body.message, status, body))).toEqual({ ...UNAVAILABLE, applied: 'no' })
  })

  it.each([400, 408, 413, 418, 499, 500, 501, 502, 503, 504, 520, 522, 524, 527, 529, 531, 599])(
    'of HTTP %d does not: it may have arrived',
    (status) => {
      expect(seen(page(status))).toEqual(UNKNOWN_OUTCOME)
    },
  )
})

describe('only what is certain counts as not applied', () => {
  const page = '<!DOCTYPE html><title>502 Bad Gateway</title>'
  const context = (status: number) => ({ status, statusText: '', body: page, headers: {} })

  it.each([
    ['an HTML page', new UnknownError('Expected JSON response from database API, got HTTP 502', context(502))],
    ['a Cloudflare error', new UnknownError('Cloudflare error: HTTP 524 (not a database error)', context(524))],
    ['an error without number', new DatabaseError('internal error', 500, { code: 'INTERNAL', message: '' })],
    ['a cut connection', new TypeError('fetch failed')],
    ['a deadline', new DOMException('The operation was aborted', 'AbortError')],
    ['our own deadline', new Error('no answer within 10000 ms')],
    ['an answer that is not JSON', new SyntaxError('Unexpected end of JSON input')],
    ['another error that says a number', new Error('(errno 1213) (sqlstate 40001)')],
    ['a text', '(errno 1213)'],
    ['nothing', undefined],
    ['null', null],
  ])('%s does not, and may pass', (_, error) => {
    expect(seen(error)).toEqual(UNKNOWN_OUTCOME)
  })
})
