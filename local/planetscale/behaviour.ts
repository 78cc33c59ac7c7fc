/** A fault to inject. */
export interface Fault {
  /**
   * - `cut-request`: the connection is cut and the statement is not run
   * - `cut-answer`: the statement is run (and committed), then the connection is cut
   * - `hang-request`: the statement is not run and no answer ever comes
   * - `hang-answer`: the statement is run, and no answer ever comes
   * - `error`: the statement is not run and fails with `errno`
   * - `html`: the statement is not run, and a proxy's error page comes back with `status`
   */
  action: 'cut-request' | 'cut-answer' | 'hang-request' | 'hang-answer' | 'error' | 'html'
  /** Regular expression, without regard to case, that the statement must match. Default: every statement. */
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

/** What the endpoint does beyond answering, for the requests of one credential. */
export interface Behaviour {
  /** Milliseconds of network latency per request, half on the way in and half on the way out. */
  latencyMs: number
  /** Milliseconds between a write and its COMMIT, with its locks held, as replicated storage takes. */
  commitMs: number
  faults: Fault[]
  /** Whether to record statements and the rows the server read for each (costs two statements more for every one). */
  record: boolean
}

/** A statement that was recorded. */
export interface RecordedStatement {
  sql: string
  rowsReturned: number
  rowsAffected: number
  /** Index entries and rows that the server's handlers read for it, temporary tables included. */
  rowsRead: number
}

export const NO_BEHAVIOUR: Behaviour = { latencyMs: 0, commitMs: 0, faults: [], record: false }

/** Finds the fault for a statement and counts it down. */
export function takeFault(behaviour: Behaviour, sql: string): Fault | undefined {
  for (const fault of behaviour.faults) {
    if (fault.match !== undefined && !new RegExp(fault.match, 'i').test(sql)) continue
    const { skip = 0, times = 1 } = fault
    if (skip > 0) {
      fault.skip = skip - 1
      continue
    }
    if (times <= 0) continue
    fault.times = times - 1
    return fault
  }
  return undefined
}

/** Milliseconds, as a promise. */
export function pause(milliseconds: number): Promise<void> {
  return milliseconds > 0 ? new Promise((resolve) => setTimeout(resolve, milliseconds)) : Promise.resolve()
}
