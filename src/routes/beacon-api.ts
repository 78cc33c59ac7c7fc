import * as z from 'zod'
import { RELEASES } from '../browser/release.ts'
import type { Operation } from '../openapi/operation.ts'

const VERSIONS = RELEASES.map(({ version }) => version)

const script = {
  tag: 'Counting',
  method: 'get',
  access: 'anyone',
  answers: { 200: { description: 'The script.', contentType: 'text/javascript' } },
  revalidated: true,
  problems: [],
} as const

export const latestBeacon = {
  ...script,
  id: 'beacon',
  path: '/beacon.js',
  summary: 'The script that counts page views',
  description: 'Its latest version. Include it with `defer`; it counts a view of each page that somebody sees.',
  examples: {
    latest: {
      summary: 'The latest version',
      says: { 'Cache-Control': 'public, max-age=86400, stale-while-revalidate=604800' },
    },
  },
} as const satisfies Operation

export const beaconRelease = {
  ...script,
  id: 'beaconRelease',
  path: '/beacon/{version}.js',
  summary: 'A version of the script that never changes',
  description: 'For those who pin it with `integrity`.',
  params: { version: z.enum(VERSIONS as [string, ...string[]]).describe('Three numbers.') },
  examples: {
    first: {
      summary: 'The first version',
      params: { version: '1.0.0' },
      says: { 'Cache-Control': 'public, max-age=31536000, immutable' },
    },
  },
} as const satisfies Operation
