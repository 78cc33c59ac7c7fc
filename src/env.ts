/** What the platform binds to the Worker, unchecked: `readConfig` turns it into a typed configuration. */
export interface Env {
  /** Secret: `https://user:password@host` of a PlanetScale branch, or `http://…` of the local endpoint. */
  DATABASE_URL?: unknown
  /** Secret: the bearer token of everything that is not public. */
  API_TOKEN?: unknown
  COUNTERS?: unknown
  ROLLUP?: unknown
  PRUNING?: unknown
}
