import type { WRITTEN, WrittenSettings } from './written-settings.ts'

/** What the platform binds to the Worker, unchecked. `readConfig` turns it into a typed configuration. */
export interface Bindings {
  /** Secret: `https://user:password@host` of a PlanetScale branch, or `http://…` of the local endpoint. */
  DATABASE_URL?: unknown
  /** Secret: the owner's bearer token, for everything that is not public. */
  API_TOKEN?: unknown
  /** Secret: named tokens with a scope, one a line, as hashes. */
  API_TOKENS?: unknown
  /** Queue for batches that the database did not accept. Without it, they are refused. */
  BATCHES?: unknown
  /** Queue for batches that can never be applied, each with the reason. */
  DEAD_BATCHES?: unknown
  /** Rate limits for public counting and public reading, by network. Without one, nothing is limited. */
  VISITOR_LIMIT?: unknown
  READER_LIMIT?: unknown
  NEW_KEY_LIMIT?: unknown
  /** The static assets. Without them, there is no documentation. */
  ASSETS?: unknown
  /** The path under which everything is served, such as `/counter`. */
  BASE_PATH?: unknown
  /** The plan of Workers that the account has: `free` or `paid`. It sets the budgets of the background tasks. */
  PLAN?: unknown
  COUNTERS?: unknown
  ROLLUP?: unknown
  PRUNING?: unknown
  HISTORY?: unknown
  SHARDING?: unknown
  EXCLUDE?: unknown
  CRONS?: unknown
  /** Set by the options of a counter. */
  [WRITTEN]?: WrittenSettings
}
