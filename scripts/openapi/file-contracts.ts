import * as v from 'valibot'
import { described } from '../../src/openapi/contract.ts'
import type { DocumentedOperation } from './example.ts'

const FILE = { method: 'get', access: 'anyone', revalidated: true, file: true } as const

/**
 * The contracts of the files that programs and sites load.
 *
 * @param versions the versions of the beacon, the oldest first
 */
export function fileContracts(versions: readonly string[]): DocumentedOperation[] {
  const script = { 200: { description: 'The script.', contentType: 'text/javascript' } }
  return [
    {
      ...FILE,
      id: 'beacon',
      tag: 'Counting',
      path: '/slotted.js',
      summary: 'Get the beacon script',
      description: 'The latest version. Include it with `defer`. It counts one view for each page that a visitor sees.',
      answers: script,
      examples: {
        latest: {
          summary: 'The latest version',
          says: { 'Cache-Control': 'public, max-age=86400, stale-while-revalidate=604800' },
        },
      },
    },
    {
      ...FILE,
      id: 'beaconRelease',
      tag: 'Counting',
      path: '/slotted-{version}.js',
      summary: 'Get a release of the beacon script',
      description: 'A release never changes, so you can pin it with `integrity`.',
      params: { version: described(v.picklist(versions as [string, ...string[]]), 'The version, such as `1.0.0`.') },
      answers: script,
      examples: {
        first: {
          summary: 'The first version',
          params: { version: versions[0]! },
          says: { 'Cache-Control': 'public, max-age=31536000, immutable' },
        },
      },
    },
    {
      ...FILE,
      id: 'openapi',
      tag: 'Reference',
      path: '/openapi.json',
      summary: 'Get the OpenAPI document',
      description: 'The API as an OpenAPI 3.1 document, for tools and code generators.',
      answers: {
        200: {
          description: 'An OpenAPI 3.1 document.',
          schema: described(v.looseObject({ openapi: v.string(), paths: v.record(v.string(), v.unknown()) }), {
            id: 'OpenApi',
          }),
        },
      },
      examples: { document: { summary: 'The document', says: { 'Cache-Control': 'public, max-age=300' } } },
    },
  ]
}
