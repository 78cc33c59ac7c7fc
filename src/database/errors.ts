import { DatabaseError } from '@planetscale/database'

/** What a failure means for its statement. */
export interface FailureClass {
  readonly kind: 'unavailable' | 'contention' | 'credentials' | 'schema' | 'shards' | 'range' | 'rejected'
  /** Whether the statement may succeed if it is sent again. */
  readonly retry: boolean
  /** `no`: the statement certainly changed nothing. */
  readonly applied: 'no' | 'unknown'
}

const CREDENTIALS: FailureClass = { kind: 'credentials', retry: false, applied: 'no' }
const SCHEMA: FailureClass = { kind: 'schema', retry: false, applied: 'no' }
/** What must be on one shard is on several: the keyspace has more shards than there are ranges. */
const SHARDS: FailureClass = { kind: 'shards', retry: false, applied: 'no' }
const REJECTED: FailureClass = { kind: 'rejected', retry: false, applied: 'no' }
const BUG: FailureClass = { kind: 'rejected', retry: false, applied: 'unknown' }
const CONTENTION: FailureClass = { kind: 'contention', retry: true, applied: 'no' }
const RANGE: FailureClass = { kind: 'range', retry: false, applied: 'no' }
const NOT_APPLIED: FailureClass = { kind: 'unavailable', retry: true, applied: 'no' }
const UNKNOWN_OUTCOME: FailureClass = { kind: 'unavailable', retry: true, applied: 'unknown' }

// By MySQL error number. Sources: MySQL 8.4 reference manual, "Server Error Message Reference" and "InnoDB Error Handling";
// Vitess go/mysql/sqlerror/constants.go.
const BY_ERRNO: Record<number, FailureClass> = {
  1020: CONTENTION, // record has changed since last read (MariaDB snapshot isolation)
  1040: NOT_APPLIED, // too many connections: refused before any statement
  1044: CREDENTIALS, // access denied to the database
  1045: CREDENTIALS, // access denied to the user
  1049: SCHEMA, // unknown database
  1053: UNKNOWN_OUTCOME, // server shutdown in progress
  1054: SCHEMA, // unknown column
  1114: NOT_APPLIED, // the table is full, as is the disk: the statement was rolled back
  1146: SCHEMA, // no such table
  1203: NOT_APPLIED, // too many connections of this user
  1205: CONTENTION, // lock wait timeout: the statement was rolled back
  1213: CONTENTION, // deadlock: the transaction was rolled back
  1264: RANGE, // out of range value for a column
  1290: NOT_APPLIED, // read-only server: a failover is under way
  1317: UNKNOWN_OUTCOME, // query interrupted
  1690: RANGE, // BIGINT value is out of range
  1836: NOT_APPLIED, // running in read-only mode
  2002: NOT_APPLIED, // vttablet could not connect
  2003: NOT_APPLIED, // vttablet could not connect
  2006: UNKNOWN_OUTCOME, // server has gone away
  2013: UNKNOWN_OUTCOME, // lost connection during the query
  // vttablet's time-out. It reports it without waiting for the server, which may have committed a statement outside
  // transactions before the KILL arrives (Vitess go/vt/vttablet/tabletserver/connpool/dbconn.go, `execOnce`).
  3024: UNKNOWN_OUTCOME,
  3572: CONTENTION, // NOWAIT and the row is locked (MariaDB: 1205)
}

// By the beginning of the text, for errors that Vitess makes itself, without a number. For the VT codes, see Vitess
// go/vt/vterrors/code.go: VT09031 and VT09032 are transient, as are VT14 (no connection) and VT15 (roll back and try again). What is
// refused because it would span shards is rolled back on all of them (go/vt/vtgate/scatter_conn.go, `multiGoTransaction`). VT13 is a
// bug in Vitess, and the statement may have run.
const BY_TEXT: [string, FailureClass][] = [
  ['VT05|(?:table|column) \\S+ not found', SCHEMA],
  // The keyspace has several shards, and its VSchema does not name the table (go/vt/vtgate/engine/routing.go, `unsharded`).
  ["Keyspace '\\S+' does not have exactly one shard", SCHEMA],
  ['VT(?:03|06|07|09(?!03[12])|12)', REJECTED],
  ['syntax error at position |Row count exceeded', REJECTED],
  ['multi-db transaction attempted', SHARDS],
  // The branch has safe migrations on (go/vt/vtgate/engine/ddl.go).
  ['direct DDL is disabled', REJECTED],
  // No connection was free to begin the transaction, or the statement outside one (go/vt/vttablet/tabletserver/tx_pool.go).
  ['(?:per-user )?transaction pool connection limit exceeded', NOT_APPLIED],
  ['VT13', BUG],
]
const FROM_VTTABLET = 'target: \\S+: vttablet: rpc error: code = \\S+ desc = '
const VITESS_ERRORS = BY_TEXT.map(
  ([text, failure]) => [new RegExp(`^(?:${FROM_VTTABLET})?(?:${text})`), failure] as const,
)

// By gRPC code. Vitess derives it from MySQL's number (go/mysql/sqlerror/sql_error.go, `VtRpcErrorCode`) or sets it itself. A
// failover may cause NOT_FOUND ("tablet: … is either down or nonexistent") and FAILED_PRECONDITION ("wrong tablet type").
const BY_CODE: Record<string, FailureClass> = {
  INVALID_ARGUMENT: REJECTED,
  UNIMPLEMENTED: REJECTED,
  PERMISSION_DENIED: CREDENTIALS,
}
// INVALID_ARGUMENT without a number may be transient: while tables or shards are moved, vttablet and vtgate report it.
const MAY_BE_TRANSIENT = /^(?:target: |No partition found)/

// Then, by the class of the SQL state: cardinality, data exception, integrity constraint, and syntax or access rule (ISO/IEC 9075-2,
// "SQLSTATE class and subclass values") mean that the statement was refused. A COMMIT that took effect may report any other state.
const REFUSED_STATES = new Set(['21', '22', '23', '42'])

// HTTP statuses of responses that are not the database's, after which the request certainly was not delivered. Sources:
// Cloudflare's documentation, "5xx errors": the origin was not reached; RFC 6585, section 4: too many requests. With any other
// status (502, 520, 522, 524 and those that proxies invent) it may have been delivered.
const NOT_DELIVERED = new Set([429, 521, 523, 525, 526, 530])

/** A failed statement or transaction. The driver's error is the `cause`. */
export class DatabaseFailure extends Error implements FailureClass {
  override name = 'DatabaseFailure'
  readonly kind: FailureClass['kind']
  readonly retry: boolean
  readonly applied: 'no' | 'unknown'

  constructor({ kind, retry, applied }: FailureClass, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.kind = kind
    this.retry = retry
    this.applied = applied
  }

  /** A failure for an error that is not the database's: a bug, after which the outcome is unknown. */
  static unexpected(error: unknown): DatabaseFailure {
    return new DatabaseFailure(BUG, error)
  }

  /** A failure of a statement that was not sent. */
  static notSent(reason: string): DatabaseFailure {
    return new DatabaseFailure({ kind: 'unavailable', retry: false, applied: 'no' }, reason)
  }

  /** The same failure for a larger operation, with that operation's outcome. */
  withApplied(applied: 'no' | 'unknown'): DatabaseFailure {
    return new DatabaseFailure({ kind: this.kind, retry: this.retry, applied }, this.cause)
  }
}

/** Classifies an error from the driver, or from the `fetch` below it. The outcome is unknown unless it is listed above. */
export function classify(error: unknown): DatabaseFailure {
  if (error instanceof DatabaseFailure) return error
  if (!(error instanceof DatabaseError)) return new DatabaseFailure(UNKNOWN_OUTCOME, error)
  if (error.status === 401 || error.status === 403) return new DatabaseFailure(CREDENTIALS, error)
  if (NOT_DELIVERED.has(error.status)) return new DatabaseFailure(NOT_APPLIED, error)
  // Number and state are only in the text: … (errno 1213) (sqlstate 40001) …
  const [, errno, sqlState] = /\(errno (\d+)\) \(sqlstate (\w{5})\)/.exec(error.message) ?? []
  const code = String(error.body.code).toUpperCase()
  const transient = code === 'INVALID_ARGUMENT' && errno === undefined && MAY_BE_TRANSIENT.test(error.message)
  const byCode = transient ? undefined : BY_CODE[code]
  const byState = REFUSED_STATES.has(sqlState?.slice(0, 2) ?? '') ? REJECTED : undefined
  // The text comes first because it may quote a statement that contains a number.
  const byText = VITESS_ERRORS.find(([text]) => text.test(error.message))?.[1]
  return new DatabaseFailure(byText ?? BY_ERRNO[Number(errno)] ?? byCode ?? byState ?? UNKNOWN_OUTCOME, error)
}

/** Whether an error has this MySQL error number. Over the HTTP API, only the message tells the number. */
export function hasErrorNumber(error: unknown, number: number): boolean {
  const { errno, message = '' } = error as { errno?: number; message?: string }
  return errno === number || message.includes(`(errno ${number})`)
}
