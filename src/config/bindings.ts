import * as z from 'zod/mini'
import { textThat } from './setting-schemas.ts'

/** The key of what the options of `createSlottedCounter` name. */
export const OPTIONS = Symbol('options')

/** What the platform binds to the Worker, unchecked: see `readConfig`. */
export interface Bindings {
  /** Secret: `https://user:password@host` of a PlanetScale branch, or `http://…` of the local endpoint. */
  DATABASE_URL?: unknown
  /** Secret: the owner's bearer token, for everything that is not public. */
  API_TOKEN?: unknown
  /** Secret: named tokens with a scope, one a line, as hashes. */
  API_TOKENS?: unknown
  /** Queue for batches that the database did not accept. Without it, requests fail. */
  BATCHES?: unknown
  /** Queue for batches that can never be applied, each with the reason. */
  DEAD_BATCHES?: unknown
  /** Rate limits by network. Without one, nothing is limited. */
  VISITOR_LIMIT?: unknown
  READER_LIMIT?: unknown
  NEW_KEY_LIMIT?: unknown
  /** The static assets. Without them, there is no documentation. */
  ASSETS?: unknown
  /** The path under which everything is served, such as `/counter`. */
  BASE_PATH?: unknown
  /** The name of the site whose counts these are. */
  SITE_NAME?: unknown
  /** The account's Workers plan, `free` or `paid`, which sets the budgets of the background tasks. */
  PLAN?: unknown
  /** The sites whose pages may count. */
  SITES?: unknown
  COUNTERS?: unknown
  ROLLUP?: unknown
  PRUNING?: unknown
  HISTORY?: unknown
  SHARDING?: unknown
  EXCLUDE?: unknown
  CRONS?: unknown
  /** The names that bindings have in `env`, and the settings given. Set by `bindingsOf`. */
  [OPTIONS]?: { bindings: Readonly<Record<string, string>>; settings: readonly string[] }
}

/** A base path: segments that need no encoding in a URL, in HTML or in the name of a cookie. */
export const BASE_PATH_FORM = /^(?:\/[\w-]*\w)+$/
const RULE =
  'must be a path such as "/counter": letters, digits, "_" and "-" between slashes, without a slash at its end'

export const basePath = z.optional(textThat(RULE, (value) => value === '' || BASE_PATH_FORM.test(value)))
