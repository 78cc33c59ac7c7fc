import * as z from 'zod/mini'
import { RECENT_PERIOD_HOURS, type RecentPeriod } from '../counters/history/recent-period.ts'
import { once } from '../http/query-string.ts'
import { documented, type Route } from '../openapi/contract.ts'
import { COUNTER_PARAMS, count, described, typeParam } from '../openapi/described.ts'
import { BADGE_STYLES, isBadgeText, MAX_LABEL } from '../views/badge/badge.ts'
import { COLOR_RULE, parseColor } from '../views/badge/color.ts'
import { prefixField } from './request-fields.ts'

const LABEL_RULE = `must have at most ${MAX_LABEL} characters, none of them a control character`
const PERIODS = ['all', ...(Object.keys(RECENT_PERIOD_HOURS) as RecentPeriod[])] as const
/** shields.io draws what the JSON says, and has styles that are not drawn here. */
const SHIELDS_STYLES = [...BADGE_STYLES, 'plastic', 'social'] as const

const oneOf = (values: readonly string[]) => `must be one of ${values.join(', ')}`

const color = () =>
  z.pipe(
    z.string(),
    z.transform((text, context) => {
      const color = parseColor(text)
      if (color === undefined) context.issues.push({ code: 'custom', message: COLOR_RULE, input: text })
      return color
    }),
  )

const look = () => ({
  label: once(z.optional(z.string().check(z.refine(isBadgeText, LABEL_RULE)))),
  color: once(z.optional(color())),
  label_color: once(z.optional(color())),
  period: once(z._default(z.enum(PERIODS, { error: oneOf(PERIODS) }), 'all')),
  compact: once(z._default(z.enum(['true', 'false'], { error: 'must be true or false' }), 'false')),
})

/** What may be asked of a drawn badge. */
export const svgQuery = () => ({
  ...look(),
  style: once(z._default(z.enum(BADGE_STYLES, { error: oneOf(BADGE_STYLES) }), 'flat')),
})

export type SvgQuery = z.output<z.ZodMiniObject<ReturnType<typeof svgQuery>>>

/** What may be asked of a badge that shields.io draws. */
const jsonQuery = () => ({
  ...look(),
  style: once(z.optional(z.enum(SHIELDS_STYLES, { error: oneOf(SHIELDS_STYLES) }))),
})

/** The JSON that the endpoint badge of shields.io expects (https://shields.io/badges/endpoint-badge). */
const shieldsBadge = () =>
  described(
    z.strictObject({
      schemaVersion: z.literal(1),
      label: z.string(),
      message: described(z.string(), 'The count, formatted for display.'),
      color: z.string(),
      labelColor: z.optional(z.string()),
      style: z.optional(z.string()),
      cacheSeconds: z.int(),
      count: described(
        z.optional(count),
        'The count as a number. Left out for shields.io, which rejects unknown members.',
      ),
    }),
    { id: 'ShieldsBadge' },
  )
const shieldsError = () =>
  described(
    z.strictObject({
      schemaVersion: z.literal(1),
      label: z.string(),
      message: described(z.string(), 'What went wrong.'),
      color: z.string(),
      isError: z.literal(true),
      cacheSeconds: z.int(),
    }),
    { id: 'ShieldsError' },
  )

const REFUSED = { schemaVersion: 1, label: 'counter', color: 'red', isError: true, cacheSeconds: 300 }

export const WRONG = {
  400: 'The key or the query string is not percent-encoded UTF-8.',
  404: 'The type does not exist or is not public.',
  422: 'The key or a parameter is invalid. The badge says which.',
  429: 'Too many requests from this network.',
  503: 'The database is unavailable.',
}

/** What may be asked of a drawn badge of a total. */
export const svgTotalBadge = {
  method: 'get',
  path: '/badge/{type}.svg',
  access: 'anyone',
  params: { type: typeParam },
  query: () => ({ ...svgQuery(), prefix: prefixField() }),
} as const satisfies Route

export const svgTotalBadgeContract = /* @__PURE__ */ documented(svgTotalBadge, () => ({
  id: 'badgeTotalSvg',
  tag: 'Badges',
  summary: 'Get the badge of a total as SVG',
  description: 'Shows the sum of all counters of a type, or of those whose keys begin with a prefix.',
  ...drawnAnswers(),
  examples: {
    badge: {
      summary: 'All downloads in the last 30 days',
      params: { type: 'download' },
      query: { period: 'month', label: 'downloads/month' },
      says: { 'Cache-Control': 'public, max-age=60, stale-while-revalidate=300, stale-if-error=86400' },
    },
  },
}))

export const jsonTotalBadge = {
  method: 'get',
  path: '/badge/{type}.json',
  access: 'anyone',
  params: { type: typeParam },
  query: () => ({ ...jsonQuery(), prefix: prefixField() }),
} as const satisfies Route

export const jsonTotalBadgeContract = /* @__PURE__ */ documented(jsonTotalBadge, () => ({
  id: 'badgeTotalJson',
  tag: 'Badges',
  summary: 'Get the badge of a total for shields.io',
  description: 'The same as JSON for the endpoint badge of shields.io.',
  ...shieldsAnswers(),
  examples: {
    unlisted: {
      summary: 'A prefix that the type does not list',
      params: { type: 'download' },
      query: { prefix: 'app-' },
      status: 422,
      answer: { ...REFUSED, message: 'prefix is not public' },
    },
  },
}))

export const svgBadge = {
  method: 'get',
  path: '/badge/{type}/{key}.svg',
  access: 'anyone',
  params: COUNTER_PARAMS,
  query: svgQuery,
} as const satisfies Route

export const svgBadgeContract = /* @__PURE__ */ documented(svgBadge, () => ({
  id: 'badgeSvg',
  tag: 'Badges',
  summary: 'Get a badge as SVG',
  description:
    'Viewing a badge does not count. Errors are badges too: they show the message and have the matching status.',
  ...drawnAnswers(),
  examples: {
    badge: {
      summary: 'Downloads in the last 7 days',
      params: { type: 'download', key: 'app-1.2.0.tgz' },
      query: { period: 'week', label: 'this week', style: 'flat-square' },
      says: { 'Cache-Control': 'public, max-age=60, stale-while-revalidate=300, stale-if-error=86400' },
    },
    misspelt: {
      summary: 'An unknown color',
      params: { type: 'download', key: 'app-1.2.0.tgz' },
      query: { color: 'blurple' },
      status: 422,
      says: { 'Cache-Control': 'public, max-age=60' },
    },
  },
}))

export const jsonBadge = {
  method: 'get',
  path: '/badge/{type}/{key}.json',
  access: 'anyone',
  params: COUNTER_PARAMS,
  query: jsonQuery,
} as const satisfies Route

export const jsonBadgeContract = /* @__PURE__ */ documented(jsonBadge, () => ({
  id: 'badgeJson',
  tag: 'Badges',
  summary: 'Get a badge for shields.io',
  description: 'JSON for the endpoint badge of shields.io. Use it as `https://img.shields.io/endpoint?url=…`.',
  ...shieldsAnswers(),
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
      answer: { ...REFUSED, message: 'not found' },
    },
  },
}))

/** What a badge that is drawn here may answer. */
function drawnAnswers() {
  const image = (description: string) =>
    ({ description, contentType: 'image/svg+xml', headers: ['Cache-Control'] }) as const
  return {
    answers: {
      200: { description: 'The badge.', contentType: 'image/svg+xml' },
      400: image(WRONG[400]),
      404: image(WRONG[404]),
      422: image(WRONG[422]),
      429: image(WRONG[429]),
      503: image(WRONG[503]),
    },
    revalidated: true,
  } as const
}

/** What a badge that shields.io draws may answer. */
function shieldsAnswers() {
  return {
    answers: {
      200: { description: 'The badge.', schema: shieldsBadge() },
      400: { description: WRONG[400], schema: shieldsError() },
      404: { description: WRONG[404], schema: shieldsError() },
      422: { description: WRONG[422], schema: shieldsError() },
      429: { description: WRONG[429], schema: shieldsError(), headers: ['Retry-After'] },
      503: { description: WRONG[503], schema: shieldsError(), headers: ['Retry-After'] },
    },
    revalidated: true,
  } as const
}
