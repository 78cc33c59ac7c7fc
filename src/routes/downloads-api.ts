import * as z from 'zod'
import { typeParam } from '../openapi/fields.ts'
import type { Operation } from '../openapi/operation.ts'
import { exampleProblem } from '../openapi/problems.ts'

export const download = {
  id: 'download',
  tag: 'Counting',
  method: 'get',
  path: '/d/{type}/{key}',
  summary: 'Count a download and go on to the file',
  description:
    'Counts, and sends on to the type’s `redirect_to` followed by the key. HEAD and ranges that do not begin at the first byte are sent ' +
    'on uncounted, and so are bots, and the same visitor within 30 seconds (`dedupe_seconds`). A download never waits longer than half ' +
    'a second for its count, and goes on if it could not be counted.',
  access: 'anyone',
  params: {
    type: typeParam,
    key: z.string().describe('The path of the file: names with slashes between them, which may stand as they are.'),
  },
  headers: {
    Range: z
      .string()
      .optional()
      .describe('Which part of the file is wanted. What does not begin at the first byte goes on uncounted.'),
    'User-Agent': z
      .string()
      .optional()
      .describe('Programs that call themselves bots are not counted; curl and wget are none here.'),
  },
  answers: { 302: { description: 'The file is there.', headers: ['Location', 'X-Hit'] } },
  problems: ['malformed_key', 'not_found', 'unknown_type', 'invalid_request'],
  problemHeaders: ['X-Hit'],
  examples: {
    file: {
      summary: 'A file',
      params: { type: 'download', key: 'v1.2/app.zip' },
      headers: { 'User-Agent': 'curl/8.17.0' },
      says: { Location: 'http://127.0.0.1:8788/files/v1.2/app.zip', 'X-Hit': 'counted' },
    },
    rest: {
      summary: 'A download that goes on: not counted again',
      params: { type: 'download', key: 'v1.2/app.zip' },
      headers: { 'User-Agent': 'curl/8.17.0', Range: 'bytes=1000-' },
      says: { Location: 'http://127.0.0.1:8788/files/v1.2/app.zip', 'X-Hit': 'ignored; reason=range' },
    },
    noDownloads: {
      summary: 'A type that has no downloads',
      params: { type: 'page_view', key: 'app.zip' },
      status: 404,
      answer: exampleProblem(
        'not_found',
        'This type has no downloads: redirect_to in its settings says where they are.',
      ),
      says: { 'X-Hit': 'ignored; reason=not_found' },
    },
  },
} as const satisfies Operation
