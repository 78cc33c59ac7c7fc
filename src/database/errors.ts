import { DatabaseError } from '@planetscale/database'

/** What kind of failure it was, as far as the callers tell kinds apart. */
export type FailureKind = 'unavailable' | 'contention' | 'credentials' | 'schema' | 'range' | 'rejected'

/** What a failure means for the statement that met it. */
export interface FailureClass {
  kind: FailureKind
  /** Whether the same statement may succeed when it is sent again. */
  retry: boolean
  /** Whether it is certain that the statement changed nothing. */
  applied: 'no' | 'unknown'
}

// By MySQL error number. Sources: MySQL 8.4 reference manual, "Server Error Message Reference" and "InnoDB Error Handling";
// Vitess go/mysql/sqlerror/constants.go for the numbers that vtgate and vttablet produce themselves.
const BY_ERRNO: Record<number, FailureClass> = {
  1020: { kind: 'contention', retry: true, applied: 'no' }, // record has changed since last read (MariaDB snapshot isolation)
  1040: { kind: 'unavailable', retry: true, applied: 'no' }, // too many connections: refused before any statement
  1044: { kind: 'credentials', retry: false, applied: 'no' }, // access denied to the database
  1045: { kind: 'credentials', retry: false, applied: 'no' }, // access denied to the user
  1049: { kind: 'schema', retry: false, applied: 'no' }, // unknown database
  1053: { kind: 'unavailable', retry: true, applied: 'unknown' }, // server shutdown in progress
  1054: { kind: 'schema', retry: false, applied: 'no' }, // unknown column
  1105: { kind: 'unavailable', retry: true, applied: 'unknown' }, // Vitess: anything it has no number for
  1146: { kind: 'schema', retry: false, applied: 'no' }, // no such table
  1203: { kind: 'unavailable', retry: true, applied: 'no' }, // too many connections of this user
  1205: { kind: 'contention', retry: true, applied: 'no' }, // lock wait timeout: the statement was rolled back
  1213: { kind: 'contention', retry: true, applied: 'no' }, // deadlock: the transaction was rolled back
  1264: { kind: 'range', retry: false, applied: 'no' }, // out of range value for a column
  1290: { kind: 'unavailable', retry: true, applied: 'no' }, // read-only server: a failover is under way
  1317: { kind: 'unavailable', retry: true, applied: 'unknown' }, // query interrupted; Vitess: transaction timed out
  1690: { kind: 'range', retry: false, applied: 'no' }, // BIGINT value is out of range
  1836: { kind: 'unavailable', retry: true, applied: 'no' }, // running in read-only mode
  2002: { kind: 'unavailable', retry: true, applied: 'no' }, // vttablet could not connect
  2003: { kind: 'unavailable', retry: true, applied: 'no' }, // vttablet could not connect
  2006: { kind: 'unavailable', retry: true, applied: 'unknown' }, // server has gone away
  2013: { kind: 'unavailable', retry: true, applied: 'unknown' }, // lost connection during the query
  3572: { kind: 'contention', retry: true, applied: 'no' }, // NOWAIT, and somebody has the lock (MariaDB says 1205)
}

// For all other numbers, the class of the SQL state: cardinality, data exception, integrity constraint, and syntax or access
// rule (ISO/IEC 9075-2, "SQLSTATE class and subclass values") mean that the statement itself was refused. The rest, HY000
// among them, may also be reported by a COMMIT that took effect.
const REFUSED_STATES = new Set(['21', '22', '23', '42'])

// By the HTTP status of an answer that is not the database's. Sources: Cloudflare's documentation, "5xx errors": the origin was
// not reached, so it was not told anything; RFC 6585, section 4: too many requests. In the others (520, 522, 524, 502 and what
// proxies invent) the request may have arrived.
const NOT_DELIVERED = new Set([429, 521, 523, 525, 526, 530])

const NOT_APPLIED: FailureClass = { kind: 'unavailable', retry: true, applied: 'no' }
const UNKNOWN_OUTCOME: FailureClass = { kind: 'unavailable', retry: true, applied: 'unknown' }
const CREDENTIALS: FailureClass = { kind: 'credentials', retry: false, applied: 'no' }
const REJECTED: FailureClass = { kind: 'rejected', retry: false, applied: 'no' }

/** A statement or transaction that failed, with what that means for it. The driver's error is the `cause`. */
export class DatabaseFailure extends Error implements FailureClass {
  readonly kind: FailureKind
  readonly retry: boolean
  readonly applied: 'no' | 'unknown'

  constructor({ kind, retry, applied }: FailureClass, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'DatabaseFailure'
    this.kind = kind
    this.retry = retry
    this.applied = applied
  }

  /** What is to be said of an error that is not the database's: a mistake of ours, after which nobody knows. */
  static unexpected(error: unknown): DatabaseFailure {
    return new DatabaseFailure({ kind: 'rejected', retry: false, applied: 'unknown' }, error)
  }

  /** The same failure, seen from a larger whole that is or may be applied or not. */
  withApplied(applied: 'no' | 'unknown'): DatabaseFailure {
    return new DatabaseFailure({ kind: this.kind, retry: this.retry, applied }, this.cause)
  }
}

/**
 * Says what an error from the driver, or from the `fetch` below it, means. Only what the table above is sure about counts
 * as not applied; everything else (a cut connection, a deadline, a proxy's error page) leaves the outcome unknown.
 */
export function classify(error: unknown): DatabaseFailure {
  if (error instanceof DatabaseFailure) return error
  if (!(error instanceof DatabaseError)) return new DatabaseFailure(UNKNOWN_OUTCOME, error)
  if (error.status === 401 || error.status === 403) return new DatabaseFailure(CREDENTIALS, error)
  if (NOT_DELIVERED.has(error.status)) return new DatabaseFailure(NOT_APPLIED, error)
  // Number and state stand in the text only: … (errno 1213) (sqlstate 40001) …
  const [, errno, sqlState] = /\(errno (\d+)\) \(sqlstate (\w{5})\)/.exec(error.message) ?? []
  const known = BY_ERRNO[Number(errno)]
  if (known !== undefined) return new DatabaseFailure(known, error)
  return new DatabaseFailure(REFUSED_STATES.has(sqlState?.slice(0, 2) ?? '') ? REJECTED : UNKNOWN_OUTCOME, error)
}
