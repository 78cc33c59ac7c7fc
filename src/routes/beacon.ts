import type { Context } from 'hono'
import { Hono } from 'hono'
import { etag, RETAINED_304_HEADERS } from 'hono/etag'
import * as z from 'zod/mini'
import { type BeaconRelease, RELEASES } from '../browser/beacon/releases.ts'
import type { AppEnv } from '../http/context.ts'
import { describe } from '../http/endpoint.ts'
import type { Operation } from '../openapi/contract.ts'
import { described } from '../openapi/described.ts'

const VERSIONS = RELEASES.map(({ version }) => version)

const contract = {
  tag: 'Counting',
  method: 'get',
  access: 'anyone',
  answers: { 200: { description: 'The script.', contentType: 'text/javascript' } },
  revalidated: true,
  problems: [],
} as const

const latestBeacon = {
  ...contract,
  id: 'beacon',
  path: '/beacon.js',
  summary: 'Get the beacon script',
  description: 'The latest version. Include it with `defer`. It counts one view for each page that a visitor sees.',
  examples: {
    latest: {
      summary: 'The latest version',
      says: { 'Cache-Control': 'public, max-age=86400, stale-while-revalidate=604800' },
    },
  },
} as const satisfies Operation

const beaconRelease = {
  ...contract,
  id: 'beaconRelease',
  path: '/beacon/{version}.js',
  summary: 'Get a release of the beacon script',
  description: 'A release never changes, so you can pin it with `integrity`.',
  params: { version: described(z.enum(VERSIONS as [string, ...string[]]), 'The version, such as `1.0.0`.') },
  examples: {
    first: {
      summary: 'The first version',
      params: { version: '1.0.0' },
      says: { 'Cache-Control': 'public, max-age=31536000, immutable' },
    },
  },
} as const satisfies Operation

const LATEST = RELEASES.at(-1)!

/** A day. For another week, the old script is used while it is revalidated, so that no page waits for it. */
const CHANGES = 'public, max-age=86400, stale-while-revalidate=604800'
const NEVER_CHANGES = 'public, max-age=31536000, immutable'

/** For all sites, including those that use `integrity` with `crossorigin`, or are isolated (COEP). */
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
 * The script that sites include: `/beacon.js` is the latest release, `/beacon/1.0.0.js` a release that never changes.
 *
 * Registered before the settings are checked, so that pages always get a script and never a JSON problem.
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
