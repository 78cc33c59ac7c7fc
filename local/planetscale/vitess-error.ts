import type { QueryError } from 'mysql2'

/** An error as the API reports it: with HTTP 200 if a statement failed, with 4xx if the request is wrong. */
export interface WireError {
  code: string
  message: string
}

/** A statement failed. `wire` is the error to send to the client. */
export class StatementError extends Error {
  readonly wire: WireError
  constructor(wire: WireError) {
    super(wire.message)
    this.wire = wire
  }
}

/** The database and server that an error comes from. */
export interface ErrorSource {
  /** The name of the database. */
  readonly name: string
  /** Whether the server is a vtgate, whose errors are worded already. */
  readonly isVitess: boolean
}

/**
 * How vtgate refuses DDL with `--enable_direct_ddl=false` (Vitess go/vt/vtgate/engine/ddl.go), which is what PlanetScale's users see on
 * branches with safe migrations. It has no code, and the number 1105 on the MySQL port.
 */
export const DIRECT_DDL_DISABLED: WireError = { code: 'UNKNOWN', message: 'direct DDL is disabled' }

// The MySQL errors of each code, as vttablet converts them (Vitess go/mysql/sqlerror/sql_error.go, `VtRpcErrorCode`). Only those
// that the product may meet.
const ERRNOS: Record<string, number[]> = {
  Aborted: [1213],
  AlreadyExists: [1062],
  Canceled: [2013, 3024],
  ClusterEvent: [1290],
  DeadlineExceeded: [1205],
  FailedPrecondition: [1046, 1264],
  InvalidArgument: [1048, 1049, 1064, 1136, 1366, 1406, 1690],
  NotFound: [1054, 1146],
  PermissionDenied: [1044, 1045, 1142],
  ResourceExhausted: [1040, 1203],
  Unavailable: [1053, 2002, 2003, 2006],
  Unimplemented: [1235],
}

const codeOf = (errno: number) => Object.keys(ERRNOS).find((code) => ERRNOS[code]!.includes(errno))

// The SQL states of errors that the endpoint makes up; the server's errors have their own. Default: HY000.
const SQL_STATES: Record<number, string> = {
  1040: '08004',
  1062: '23000',
  1064: '42000',
  1142: '42000',
  1146: '42S02',
  1213: '40001',
  1264: '22003',
  1690: '22003',
}

/** A name as protobuf JSON writes it: `AlreadyExists` becomes `ALREADY_EXISTS`. */
function constantCase(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()
}

/**
 * Words an error as vttablet does.
 *
 * @param code in the spelling of gRPC, such as `AlreadyExists`
 * @param sql the statement, if the server refused it
 */
export function vttabletError(database: string, code: string, message: string, sql?: string): WireError {
  const statement = sql === undefined ? '' : `: Sql: ${JSON.stringify(sql.slice(0, 256))}, BindVars: {}`
  // gRPC has no name for this code of Vitess.
  const name = code === 'ClusterEvent' ? 'Code(17)' : code
  return {
    code: constantCase(code),
    message: `target: ${database}.-.primary: vttablet: rpc error: code = ${name} desc = ${message} (CallerID: planetscale-local)${statement}`,
  }
}

/** Words an error of the server as vttablet does, with its number and state. */
export function serverError(
  database: string,
  { errno, sqlState, message, sql }: { errno: number; sqlState?: string | undefined; message: string; sql: string },
): WireError {
  const text = `${message} (errno ${errno}) (sqlstate ${sqlState ?? SQL_STATES[errno] ?? 'HY000'})`
  return vttabletError(database, codeOf(errno) ?? 'Unknown', text, sql)
}

// The codes of errors that vtgate makes (Vitess go/vt/vterrors/code.go), by the first digits of their VT codes.
const VT_CODES: Record<string, string> = {
  '03': 'InvalidArgument',
  '05': 'NotFound',
  '06': 'AlreadyExists',
  '07': 'PermissionDenied',
  '09': 'FailedPrecondition',
  '10': 'Aborted',
  '12': 'Unimplemented',
  '13': 'Internal',
  '14': 'Unavailable',
}

/**
 * Returns an error of vtgate as its HTTP API reports it: with a code, but without a number. vtgate's MySQL port reports a number,
 * and has a code only in the text of vttablet's errors.
 */
function vtgateError(errno: number, message: string): WireError {
  const code =
    /code = ([\w()]+) desc/.exec(message)?.[1]?.replace('Code(17)', 'ClusterEvent') ??
    VT_CODES[/^VT(\d\d)\d{3}: /.exec(message)?.[1] ?? ''] ??
    // Vitess go/mysql/sqlerror/sql_error.go, `mapToSQLErrorFromErrorCode`. Its 1317 is CANCELED and DEADLINE_EXCEEDED too.
    (errno === 1317 ? 'Aborted' : /^(?:syntax error|column) /.test(message) ? 'InvalidArgument' : codeOf(errno))
  return { code: constantCase(code ?? 'Unknown'), message }
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

/** Words an error of the MySQL client as Vitess does. */
export function toWireError({ name, isVitess }: ErrorSource, error: unknown, sql: string): WireError {
  const { code = '', errno, sqlState, sqlMessage, message } = error as Partial<QueryError & { sqlMessage: string }>
  const number = CONNECTION_ERRNOS[code] ?? (errno !== undefined && errno > 0 ? errno : 2013)
  if (isVitess && sqlMessage !== undefined) return vtgateError(number, sqlMessage)
  return serverError(name, { errno: number, sqlState, message: sqlMessage ?? message ?? String(error), sql })
}
