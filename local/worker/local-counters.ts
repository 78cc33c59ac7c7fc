import { DEFAULT_COUNTERS } from '../../src/config/read-types.ts'

/** Where the demo site of `npm start` has its files, unless its port is in use. */
const DEMO_FILES = 'http://127.0.0.1:8788/files/'

/**
 * The counter types of wrangler.toml, for a Worker on this machine: every page may count, and downloads that wrangler.toml sends
 * nowhere lead to the demo site.
 *
 * @param counters `COUNTERS`, as in wrangler.toml; `undefined`: the default types
 * @param files the address of the demo site's files, with a slash at its end; `null`: there is no demo site
 */
export function localCounters(counters: unknown, files: string | null = DEMO_FILES): Record<string, object> {
  const types = Object.entries((counters ?? DEFAULT_COUNTERS) as Record<string, object>)
  return Object.fromEntries(
    types.map(([name, type]) => [
      name,
      { ...(name === 'download' && files !== null && { redirect_to: files }), ...type, allowed_origins: ['*'] },
    ]),
  )
}
