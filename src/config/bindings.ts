/** What the platform binds to the Worker, unchecked. `readConfig` turns it into a typed configuration. */
export interface Bindings {
  /** Secret: `https://user:password@host` of a PlanetScale branch, or `http://…` of the local endpoint. */
  DATABASE_URL?: unknown
  /** Secret: the bearer token for everything that is not public. */
  API_TOKEN?: unknown
  /** Queue for batches that the database did not accept. Without it, they are refused. */
  BATCHES?: unknown
  /** Queue for batches that can never be applied, each with the reason. */
  DEAD_BATCHES?: unknown
  /** Rate limits for public counting and public reading, by network. Without one, nothing is limited. */
  VISITOR_LIMIT?: unknown
  READER_LIMIT?: unknown
  COUNTERS?: unknown
  ROLLUP?: unknown
  PRUNING?: unknown
  HISTORY?: unknown
  SHARDING?: unknown
}
