/** List prices of Cloudflare's paid plan in US dollars, from its documentation in September 2026, without the included amounts. */
export const PRICES = {
  /** For each million requests to Workers. */
  workerRequests: 0.3,
  /** For each million milliseconds of CPU. */
  workerCpuMs: 0.02,
  /** For each million requests to Durable Objects. */
  objectRequests: 0.15,
  /** For each million gigabyte-seconds for which a Durable Object is in memory. */
  objectGbSeconds: 12.5,
  /** For each million rows that a Durable Object writes to its SQLite database; charged since January 2026. */
  objectRowsWritten: 1,
  /** For each million rows that a Durable Object reads from its SQLite database. */
  objectRowsRead: 0.001,
} as const

/** Memory in GB that is charged for a Durable Object in memory, regardless of its use. */
const OBJECT_GB = 0.128

/** The cost of a million hits in a Worker, given the CPU microseconds of a hit. */
export function workerCost(cpuMicros: number): number {
  return PRICES.workerRequests + (cpuMicros / 1_000) * PRICES.workerCpuMs
}

/**
 * The cost of one counter's Durable Object, in addition to the Worker, for a million hits at a steady rate: its requests, the row
 * that each of them reads and writes, and its time in memory.
 */
export function objectCost(hitsPerSecond: number): number {
  const seconds = 1e6 / hitsPerSecond
  const { objectRequests, objectRowsRead, objectRowsWritten, objectGbSeconds } = PRICES
  return objectRequests + objectRowsRead + objectRowsWritten + ((seconds * OBJECT_GB) / 1e6) * objectGbSeconds
}
