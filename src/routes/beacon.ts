import type { Context } from 'hono'
import { Hono } from 'hono'
import { etag, RETAINED_304_HEADERS } from 'hono/etag'
import type { AppEnv } from '../app-env.ts'
import { type BeaconRelease, RELEASES } from '../browser/release.ts'
import { describe } from '../openapi/operation.ts'
import { beaconRelease, latestBeacon } from './beacon-api.ts'

const LATEST = RELEASES.at(-1)!

/** A day, and what is older is used for a week more while it is revalidated: a page never waits for it. */
const CHANGES = 'public, max-age=86400, stale-while-revalidate=604800'
const NEVER_CHANGES = 'public, max-age=31536000, immutable'

/** For any site, also for those that ask for integrity, with `crossorigin`, or are isolated (COEP). */
const FOR_OTHERS = {
  'Content-Type': 'text/javascript; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

const revalidated = etag({
  retainedHeaders: [...RETAINED_304_HEADERS, ...Object.keys(FOR_OTHERS).map((name) => name.toLowerCase())],
})

/**
 * The script that sites include: `/beacon.js` is the latest, `/beacon/1.0.0.js` a release that never changes.
 *
 * Mounted before the configuration is looked at: whatever is wrong with that, pages get a script and not a JSON problem.
 */
export const beacon = new Hono<AppEnv>()

beacon.get(
  '/beacon.js',
  revalidated,
  describe(latestBeacon, (c) => script(c, LATEST, CHANGES)),
)

for (const release of RELEASES) {
  beacon.get(
    `/beacon/${release.version}.js`,
    revalidated,
    describe(beaconRelease, (c) => script(c, release, NEVER_CHANGES)),
  )
}

function script(c: Context<AppEnv>, { version, text }: BeaconRelease, cacheControl: string): Response {
  return c.body(text, 200, { ...FOR_OTHERS, 'Cache-Control': cacheControl, ETag: `"${version}"` })
}
