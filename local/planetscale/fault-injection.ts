/** A fault to inject. */
export interface Fault {
  /**
   * - `cut-request`: the connection is cut and the statement does not run
   * - `cut-answer`: the statement runs (and commits), then the connection is cut
   * - `hang-request`: the statement does not run, and the request is never answered
   * - `hang-answer`: the statement runs, and the request is never answered
   * - `error`: the statement does not run and fails with `errno`
   * - `html`: the statement does not run, and a proxy's error page is returned with `status`
   */
  action: 'cut-request' | 'cut-answer' | 'hang-request' | 'hang-answer' | 'error' | 'html'
  /** Regular expression, case-insensitive, that the statement must match. Default: every statement. */
  match?: string
  /** Matching statements to let through first. Default: 0. */
  skip?: number
  /** Matching statements to hit after that. Default: 1. */
  times?: number
  /** For `error`. Default: 1105. */
  errno?: number
  /** For `html`. Default: 502. */
  status?: number
}

/** Which changes of other transactions a statement sees and, on MySQL, how much of an index it locks. */
export type IsolationLevel = 'REPEATABLE READ' | 'READ COMMITTED'

/** What the endpoint does for the requests of one credential beyond answering them. */
export interface Behaviour {
  /** Milliseconds of network latency per request: half before the statement, half after it. */
  latencyMs: number
  /** Milliseconds between a write and its COMMIT, as replicated storage needs. The write keeps its locks for that time. */
  commitMs: number
  /**
   * Milliseconds after which a transaction is ended. Default: 20 s, as on PlanetScale ("System limits"). vttablet gives each of its
   * statements as long, counted from the statement's own start (Vitess go/vt/vttablet/tabletserver/tabletserver.go,
   * `loadQueryTimeoutWithTxAndOptions`), and ends no transaction in which a statement is running.
   */
  transactionMs: number
  faults: Fault[]
  /** Whether to refuse DDL, as a branch with safe migrations does. */
  safeMigrations: boolean
  /** The `sql_mode` of each statement's connection; `null`: unchanged. */
  sqlMode: string | null
  /** The isolation level of transactions that begin; `null`: unchanged. Nothing in front of a vtgate. */
  isolation: IsolationLevel | null
  /** Seconds by which each statement's clock is ahead of the server's; `null`: unchanged. Nothing in front of a vtgate. */
  clockSeconds: number | null
  /** Whether to record statements and the rows that the server read for each. This costs two statements more for each. */
  record: boolean
}

/** A statement that was recorded. */
export interface RecordedStatement {
  sql: string
  rowsReturned: number
  rowsAffected: number
  /** Index entries and rows that the server's handlers read for it, including those of temporary tables. 0 in front of a vtgate. */
  rowsRead: number
}

export const NO_BEHAVIOUR: Behaviour = {
  latencyMs: 0,
  commitMs: 0,
  transactionMs: 20_000,
  faults: [],
  safeMigrations: false,
  sqlMode: null,
  isolation: null,
  clockSeconds: null,
  record: false,
}

/** Finds the fault for a statement and counts it down. */
export function takeFault(behaviour: Behaviour, sql: string): Fault | undefined {
  for (const fault of behaviour.faults) {
    if (fault.match !== undefined && !new RegExp(fault.match, 'i').test(sql)) continue
    const { skip = 0, times = 1 } = fault
    if (skip > 0) fault.skip = skip - 1
    else if (times > 0) {
      fault.times = times - 1
      return fault
    }
  }
  return undefined
}

/** Waits for some milliseconds. */
export function pause(milliseconds: number): Promise<void> {
  return milliseconds > 0 ? new Promise((resolve) => setTimeout(resolve, milliseconds)) : Promise.resolve()
}
