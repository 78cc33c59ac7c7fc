import * as z from 'zod'
import { COUNTER_PARAMS, count } from '../openapi/fields.ts'
import type { Operation } from '../openapi/operation.ts'
import { jsonQuery, svgQuery } from './badge-query.ts'

/** What shields.io takes (https://shields.io/badges/endpoint-badge). */
const shieldsBadge = z
  .strictObject({
    schemaVersion: z.literal(1),
    label: z.string(),
    message: z.string().describe('The count as it is shown.'),
    color: z.string(),
    labelColor: z.string().optional(),
    style: z.string().optional(),
    cacheSeconds: z.int(),
    count: count.optional().describe('The count itself; not for shields.io, which refuses members it does not know.'),
  })
  .meta({ id: 'ShieldsBadge' })
const shieldsError = z
  .strictObject({
    schemaVersion: z.literal(1),
    label: z.string(),
    message: z.string().describe('What is wrong.'),
    color: z.string(),
    isError: z.literal(true),
    cacheSeconds: z.int(),
  })
  .meta({ id: 'ShieldsError' })

const WRONG = {
  400: 'The key or the query is not percent-encoded UTF-8.',
  404: 'There is no such public type.',
  422: 'The key or a parameter is not valid: the badge names it.',
  503: 'The database does not answer.',
}

export const svgBadge = {
  id: 'badgeSvg',
  tag: 'Badges',
  method: 'get',
  path: '/badge/{type}/{key}.svg',
  summary: 'A count as an image',
  description:
    'Looking at a badge never counts. Whatever is wrong, the answer is a badge that says so, with the status that fits.',
  access: 'anyone',
  params: COUNTER_PARAMS,
  query: svgQuery,
  answers: {
    200: { description: 'The badge.', contentType: 'image/svg+xml' },
    ...drawn(WRONG),
  },
  revalidated: true,
  problems: [],
  examples: {
    badge: {
      summary: 'Downloads of the last 7 days',
      params: { type: 'download', key: 'app-1.2.0.tgz' },
      query: { period: 'week', label: 'this week', style: 'flat-square' },
      says: { 'Cache-Control': 'public, max-age=60, stale-while-revalidate=300, stale-if-error=86400' },
    },
    misspelt: {
      summary: 'A colour that there is not',
      params: { type: 'download', key: 'app-1.2.0.tgz' },
      query: { color: 'blurple' },
      status: 422,
      says: { 'Cache-Control': 'public, max-age=60' },
    },
  },
} as const satisfies Operation

export const jsonBadge = {
  id: 'badgeJson',
  tag: 'Badges',
  method: 'get',
  path: '/badge/{type}/{key}.json',
  summary: 'A count for shields.io to draw',
  description: 'What `https://img.shields.io/endpoint?url=…` takes.',
  access: 'anyone',
  params: COUNTER_PARAMS,
  query: jsonQuery,
  answers: {
    200: { description: 'The badge.', schema: shieldsBadge },
    400: { description: WRONG[400], schema: shieldsError },
    404: { description: WRONG[404], schema: shieldsError },
    422: { description: WRONG[422], schema: shieldsError },
    503: { description: WRONG[503], schema: shieldsError, headers: ['Retry-After'] },
  },
  revalidated: true,
  problems: [],
  examples: {
    badge: {
      summary: 'All downloads',
      params: { type: 'download', key: 'never.tgz' },
      query: { label: 'downloads', color: 'green' },
      answer: { schemaVersion: 1, label: 'downloads', message: '0', color: 'green', cacheSeconds: 300, count: 0 },
    },
    unknownType: {
      summary: 'A type that is not configured',
      params: { type: 'nothing', key: 'app.tgz' },
      status: 404,
      answer: {
        schemaVersion: 1,
        label: 'counter',
        message: 'not found',
        color: 'red',
        isError: true,
        cacheSeconds: 300,
      },
    },
  },
} as const satisfies Operation

function drawn<Texts extends Record<number, string>>(texts: Texts) {
  const answers = Object.entries(texts).map(([status, description]) => [
    status,
    { description, contentType: 'image/svg+xml', headers: ['Cache-Control'] },
  ])
  return Object.fromEntries(answers) as {
    [Status in keyof Texts]: {
      description: string
      contentType: string
      headers: ['Cache-Control']
    }
  }
}
