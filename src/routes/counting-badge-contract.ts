import * as z from 'zod/mini'
import { documented, type Route } from '../openapi/contract.ts'
import { described } from '../openapi/described.ts'
import { COUNTER_PARAMS } from '../openapi/shared-schemas.ts'
import { svgQuery, WRONG } from './badge-contract.ts'

export const countingBadge = {
  method: 'get',
  path: '/hit/{type}/{key}.svg',
  access: 'anyone',
  params: COUNTER_PARAMS,
  get query() {
    return svgQuery()
  },
} as const satisfies Route

export const countingBadgeContract = /* @__PURE__ */ documented(countingBadge, () => ({
  id: 'countingBadge',
  tag: 'Counting',
  summary: 'Count a view with a badge',
  description:
    'For README files and profiles. Counts one view, and shows the count including it. The type must have `counting_badge`. ' +
    'The badge is never cached and never de-duplicated, because image proxies such as GitHub’s hide the visitors. It is an ' +
    'image even if the database is unavailable: then it shows the last known count.',
  headers: {
    'User-Agent': described(
      z.optional(z.string()),
      'Clients that identify themselves as bots are not counted. Here, the image proxies of GitHub and GitLab are not treated as bots.',
    ),
  },
  answers: {
    200: badge('The badge. `X-Hit` says whether the view was counted.'),
    400: badge(WRONG[400]),
    404: badge('The type does not exist, is not public, or has no counting badge.'),
    422: badge(WRONG[422]),
    429: badge(WRONG[429]),
  },
  problems: [],
  examples: {
    badge: {
      summary: 'A profile',
      params: { type: 'page_view', key: 'profile' },
      query: { label: 'visits' },
      headers: { 'User-Agent': 'github-camo (876de43e)' },
      says: { 'X-Hit': 'counted', 'Cache-Control': 'no-cache, no-store, max-age=0, must-revalidate' },
    },
    notSet: {
      summary: 'A type without counting badges',
      params: { type: 'download', key: 'app.tgz' },
      status: 404,
      says: { 'X-Hit': 'ignored; reason=not_found' },
    },
  },
}))

function badge(description: string) {
  return { description, contentType: 'image/svg+xml', headers: ['Cache-Control', 'X-Hit'] } as const
}
