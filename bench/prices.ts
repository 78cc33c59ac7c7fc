/** List prices of Cloudflare's paid plan in US dollars, as its documents gave them in September 2026; included amounts left out. */
export const PRICES = {
  /** For each million requests to Workers. */
  workerRequests: 0.3,
  /** For each million milliseconds of CPU. */
  workerCpuMs: 0.02,
  /** For each million requests to Durable Objects. */
  objectRequests: 0.15,
  /** For each million gigabyte-seconds for which a Durable Object is in memory. */
  objectGbSeconds: 12.5,
  /** For each million rows that a Durable Object writes into its SQLite database; charged since January 2026. */
  objectRowsWritten: 1,
  /** For each million rows that it reads there. */
  objectRowsRead: 0.001,
} as const

/** Memory that a Durable Object is charged for while it is there, whatever it uses. */
const OBJECT_GB = 0.128

/** What a million hits cost in a Worker that takes so many microseconds of CPU for each. */
export function workerCost(cpuMicros: number): number {
  return PRICES.workerRequests + (cpuMicros / 1_000) * PRICES.workerCpuMs
}

/**
 * What the Durable Object of one counter costs beyond the Worker for a million hits that come at a steady rate: its requests, the row
 * that each of them reads and writes, and its time in memory.
 */
export function objectCost(hitsPerSecond: number): number {
  const seconds = 1e6 / hitsPerSecond
  const { objectRequests, objectRowsRead, objectRowsWritten, objectGbSeconds } = PRICES
  return objectRequests + objectRowsRead + objectRowsWritten + ((seconds * OBJECT_GB) / 1e6) * objectGbSeconds
}
