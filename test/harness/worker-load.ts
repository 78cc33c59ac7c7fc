/** The load that an observed Worker reports. */
export interface WorkerLoad {
  /** Requests begun since the start. */
  begun: number
  /** Requests that wait for a flush, and flushes in flight. */
  waiting: number
  flushes: number
  /** Reads that wait for a query, and queries in flight. */
  reads: { waiting: number; queries: number }
}
