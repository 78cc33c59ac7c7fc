/** An error as the API reports it: with HTTP 200 for a statement that failed, 4xx for a request that is wrong. */
export interface WireError {
  code: string
  message: string
}

// MySQL error numbers to gRPC codes, as vttablet converts them (Vitess go/vt/vttablet/tabletserver, go/mysql/sqlerror).
const GRPC_CODES: Record<number, string> = {
  1040: 'Unavailable',
  1044: 'PermissionDenied',
  1045: 'PermissionDenied',
  1046: 'InvalidArgument',
  1049: 'NotFound',
  1054: 'InvalidArgument',
  1062: 'AlreadyExists',
  1064: 'InvalidArgument',
  1105: 'Unknown',
  1146: 'NotFound',
  1203: 'Unavailable',
  1205: 'DeadlineExceeded',
  1213: 'Aborted',
  1264: 'OutOfRange',
  1290: 'FailedPrecondition',
  1317: 'DeadlineExceeded',
  1690: 'OutOfRange',
  1836: 'FailedPrecondition',
  2002: 'Unavailable',
  2003: 'Unavailable',
  2006: 'Unavailable',
  2013: 'Unavailable',
  10001: 'ResourceExhausted',
}

// The SQL states of errors that are made up here; those of the server bring their own. Everything else: HY000.
const SQL_STATES: Record<number, string> = {
  1040: '08004',
  1062: '23000',
  1064: '42000',
  1146: '42S02',
  1213: '40001',
  1264: '22003',
  1317: '70100',
  1690: '22003',
}

/** The constants of protobuf JSON: `AlreadyExists` is `ALREADY_EXISTS`. */
function constantCase(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()
}

/**
 * An error of the server in the words of Vitess.
 *
 * @param sql the statement, or nothing where vtgate or vttablet had the error without one
 */
export function vitessError(
  database: string,
  { errno, sqlState, message, sql }: { errno: number; sqlState?: string | undefined; message: string; sql?: string },
): WireError {
  const grpc = GRPC_CODES[errno] ?? 'Unknown'
  const statement = sql === undefined ? '' : `: Sql: ${JSON.stringify(sql.slice(0, 256))}, BindVars: {}`
  return {
    code: constantCase(grpc),
    message:
      `target: ${database}.-.primary: vttablet: rpc error: code = ${grpc} desc = ${message} ` +
      `(errno ${errno}) (sqlstate ${sqlState ?? SQL_STATES[errno] ?? 'HY000'}) (CallerID: planetscale-local)${statement}`,
  }
}

const CONNECTION_ERRNOS: Record<string, number> = {
  ECONNREFUSED: 2003,
  ENOENT: 2002,
  ENOTFOUND: 2003,
  ETIMEDOUT: 2003,
  PROTOCOL_CONNECTION_LOST: 2013,
  ECONNRESET: 2013,
  EPIPE: 2006,
}

/** Puts whatever the MySQL client threw into the words of Vitess. */
export function toVitessError(database: string, error: unknown, sql: string): WireError {
  const {
    code = '',
    errno,
    sqlState,
    sqlMessage,
    message,
  } = error as Partial<Record<string, string>> & { errno?: number }
  const number = CONNECTION_ERRNOS[code] ?? (errno !== undefined && errno > 0 ? errno : 2013)
  return vitessError(database, { errno: number, sqlState, message: sqlMessage ?? message ?? String(error), sql })
}
