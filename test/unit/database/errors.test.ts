import { DatabaseError, UnknownError } from '@planetscale/database'
import { describe, expect, it } from 'vitest'
import { classify, DatabaseFailure, type FailureClass } from '../../../src/database/errors.ts'

/** The error of a statement, in the form that vtgate returns. */
function vitess(errno: number, what: string, sql = 'insert into counters values (1)'): DatabaseError {
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
    [1105, 'unknown error', UNKNOWN_OUTCOME],
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
  ] as const)('with error %d (%s) is classified', (errno, what, expected) => {
    expect(seen(vitess(errno, what))).toEqual(expected)
  })

  const REJECTED = { kind: 'rejected', retry: false, applied: 'no' } as const
  const SCHEMA = { ...REJECTED, kind: 'schema' } as const
  const SHARDS = { ...REJECTED, kind: 'shards' } as const
  const target = 'target: sharded.-80.primary: vttablet: rpc error: code ='
  const session = 'target:{keyspace:"sharded" shard:"-80" tablet_type:PRIMARY} transaction_id:1795319151473732716'

  // As vtgate 23 sends them over gRPC, shortened.
  it.each([
    ['INVALID_ARGUMENT', "syntax error at position 16 near 'next'", REJECTED],
    ['UNKNOWN', "syntax error at position 16 near 'next'", REJECTED],
    ['INVALID_ARGUMENT', "column 'nix.record_id' not found", SCHEMA],
    ['INVALID_ARGUMENT', 'VT03006: column count does not match value count with the row', REJECTED],
    ['PERMISSION_DENIED', 'VT07001: kill statement execution not permitted.', REJECTED],
    ['FAILED_PRECONDITION', 'VT09015: schema tracking required', REJECTED],
    ['FAILED_PRECONDITION', 'VT09023: could not map [NULL] to a keyspace id', REJECTED],
    ['UNIMPLEMENTED', 'VT12001: unsupported: REPLACE INTO with sharded keyspace', REJECTED],
    ['ABORTED', `multi-db transaction attempted: [${session} tablet_alias:{cell:"zone1" uid:2}]`, SHARDS],
    ['ABORTED', `${target} Aborted desc = Row count exceeded 100000 (CallerID: 1a2b3c)`, REJECTED],
    ['INTERNAL', 'VT13001: [BUG] index out of range', { ...REJECTED, applied: 'unknown' }],
    ['UNKNOWN', 'table counter_x not found', SCHEMA],
    ['FAILED_PRECONDITION', "Keyspace 'a' does not have exactly one shard: [0x105ae 0x105af]", SCHEMA],
    ['UNKNOWN', 'direct DDL is disabled', REJECTED],
    [
      'PERMISSION_DENIED',
      `${target} PermissionDenied desc = Insert command denied to user 'u' for table 'counters' (ACL check error)`,
      { ...REJECTED, kind: 'credentials' },
    ],
    ['NOT_FOUND', "VT05003: unknown database 'nix' in vschema", SCHEMA],
    [
      'PERMISSION_DENIED',
      `${target} PermissionDenied desc = DELETE command denied to user 'u' (errno 1142) (sqlstate 42000)`,
      { ...REJECTED, kind: 'credentials' },
    ],
    [
      'INVALID_ARGUMENT',
      `${target} InvalidArgument desc = Incorrect integer value: 'x' for column 'id' at row 1 (errno 1366) (sqlstate HY000)`,
      REJECTED,
    ],
    [
      'invalid_argument',
      `${target} InvalidArgument desc = Unknown collation: 'nix' (errno 1273) (sqlstate HY000)`,
      REJECTED,
    ],
    [
      'CANCELED',
      `${target} Canceled desc = (errno 3024) (sqlstate HY000): Query execution was interrupted, maximum statement execution time exceeded, elapsed time: 20.000728232s, killing connection ID 82 (CallerID: 1a2b3c)`,
      UNKNOWN_OUTCOME,
    ],
    [
      'ABORTED',
      `${target} Aborted desc = transaction 1795319151261280629: ended at 2026-11-22 03:52:27.598 UTC (exceeded timeout: 20s) (CallerID: 1a2b3c)`,
      UNKNOWN_OUTCOME,
    ],
  ] as const)('with code %s (%s) is classified', (code, message, expected) => {
    expect(seen(new DatabaseError(message, 400, { code, message }))).toEqual(expected)
  })

  // From Vitess's source: go/vt/vtgate/tabletgateway.go, go/vt/vtgate/buffer, go/vt/vttablet/tabletserver.
  it.each([
    ['UNAVAILABLE', 'VT14002: no available connection'],
    ['UNAVAILABLE', `no healthy tablet available for 'keyspace:"sharded" shard:"-80" tablet_type:PRIMARY'`],
    ['UNAVAILABLE', 'primary buffer is full'],
    ['CLUSTER_EVENT', 'target: sharded.-80.primary: primary is not serving, there is a reparent operation in progress'],
    ['CLUSTER_EVENT', 'target: sharded.-80.primary: current keyspace is being resharded'],
    ['CLUSTER_EVENT', `${target} Code(17) desc = operation not allowed in state NOT_SERVING`],
    ['FAILED_PRECONDITION', `${target} FailedPrecondition desc = wrong tablet type: PRIMARY, want: REPLICA or []`],
    ['FAILED_PRECONDITION', `${target} FailedPrecondition desc = disallowed due to rule: enforce denied tables`],
    ['FAILED_PRECONDITION', 'VT09032: previous transaction failed. Issue a ROLLBACK to resolve the failure.'],
    ['ABORTED', 'VT15001: transaction error, issue ROLLBACK and retry the transaction'],
    ['INVALID_ARGUMENT', `${target} InvalidArgument desc = invalid shard -80 does not match expected -40`],
    ['INVALID_ARGUMENT', 'No partition found for tabletType primary in keyspace sharded'],
    ['NOT_FOUND', 'tablet: zone1-0000000002 is either down or nonexistent'],
    ['RESOURCE_EXHAUSTED', `${target} ResourceExhausted desc = Transaction throttled (CallerID: 1a2b3c)`],
    ['DEADLINE_EXCEEDED', `${target} DeadlineExceeded desc = context deadline exceeded`],
    ['INTERNAL', `${target} Internal desc = stream terminated by RST_STREAM with error code: INTERNAL_ERROR`],
  ])('with code %s (%s) may be transient', (code, message) => {
    expect(seen(new DatabaseError(message, 400, { code, message }))).toEqual(UNKNOWN_OUTCOME)
  })

  it.each(['', 'per-user '])(
    'that leave a statement without a connection of the %stransaction pool applied nothing',
    (of) => {
      const message = `${target} ResourceExhausted desc = ${of}transaction pool connection limit exceeded`
      const failure = seen(new DatabaseError(message, 400, { code: 'RESOURCE_EXHAUSTED', message }))
      expect(failure).toEqual({ kind: 'unavailable', retry: true, applied: 'no' })
    },
  )

  it('that Vitess found in the statement is not classified by a number that it quotes', () => {
    const message = "syntax error at position 9 near '(errno 1213) (sqlstate 40001)'"
    expect(seen(new DatabaseError(message, 400, { code: 'INVALID_ARGUMENT', message }))).toEqual(REJECTED)
  })

  it('is classified by its own number, not by a number in the statement', () => {
    const text = '(errno 1213) (sqlstate 40001)'
    expect(seen(vitess(2013, 'Lost connection', `insert into counters values ('${text}')`))).toEqual(UNKNOWN_OUTCOME)
  })

  it.each([401, 403])('with HTTP %d means wrong credentials, whatever its message', (status) => {
    const body = { code: 'UNAUTHENTICATED', message: 'invalid credentials (errno 1213)' }
    expect(seen(new DatabaseError(body.message, status, body))).toEqual({
      kind: 'credentials',
      retry: false,
      applied: 'no',
    })
  })

  it('keeps the driver’s message and the driver’s error', () => {
    const cause = vitess(1213, 'Deadlock found')
    const failure = classify(cause)
    expect(failure).toBeInstanceOf(DatabaseFailure)
    expect(failure).toMatchObject({ name: 'DatabaseFailure', message: cause.message, cause })
    expect(classify('text')).toMatchObject({ message: 'text', cause: 'text' })
  })

  it('that is classified already stays the same', () => {
    const failure = classify(vitess(1213, 'Deadlock found'))
    expect(classify(failure)).toBe(failure)
    const larger = failure.withApplied('unknown')
    expect(larger).toMatchObject({ kind: 'contention', retry: true, applied: 'unknown', message: failure.message })
    expect(larger.cause).toBe(failure.cause)
    expect(classify(larger)).toBe(larger)
    expect(failure.applied).toBe('no')
  })
})

describe('a response that is not the database’s', () => {
  const page = (status: number) =>
    new UnknownError(`Cloudflare error: HTTP ${status} (not a database error)`, {
      status,
      statusText: '',
      body: '<html>(errno 1213) (sqlstate 40001)</html>',
      headers: {},
    })

  it.each([429, 521, 523, 525, 526, 530])('with HTTP %d means that the statement was not delivered', (status) => {
    expect(seen(page(status))).toEqual({ ...UNAVAILABLE, applied: 'no' })
    // A JSON body changes nothing.
    const body = { code: 'UNAVAILABLE', message: 'try again (errno 2013) (sqlstate HY000)' }
    expect(seen(new DatabaseError(body.message, status, body))).toEqual({ ...UNAVAILABLE, applied: 'no' })
  })

  it.each([400, 408, 413, 418, 499, 500, 501, 502, 503, 504, 520, 522, 524, 527, 529, 531, 599])(
    'with HTTP %d leaves open whether the statement was delivered',
    (status) => {
      expect(seen(page(status))).toEqual(UNKNOWN_OUTCOME)
    },
  )
})

describe('an error that proves nothing', () => {
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
  ])('leaves the outcome unknown and may be transient: %s', (_, error) => {
    expect(seen(error)).toEqual(UNKNOWN_OUTCOME)
  })
})
