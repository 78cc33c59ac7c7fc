/** What an observed Worker says of itself. */
export interface WorkerLoad {
  /** Requests it has begun since it was started. */
  begun: number
  /** Requests that wait for a flush, and flushes in flight. */
  waiting: number
  flushes: number
  /** Requests that wait for a query, and queries in flight. */
  reads: { waiting: number; queries: number }
}
