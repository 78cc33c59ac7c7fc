import * as z from 'zod/mini'
import { RECENT_PERIOD_HOURS, type RecentPeriod } from '../counters/history/recent-period.ts'
import { type Answer, documented, type Route } from '../openapi/contract.ts'
import { COUNTER_PARAMS, count, described, namedObject, typeParam } from '../openapi/described.ts'
import { choice, once, parsed, prefixField } from '../service/fields.ts'
import { BADGE_STYLES, COLOR_RULE, isBadgeText, MAX_LABEL, parseColor } from '../views/badge.ts'

const LABEL_RULE = `must have at most ${MAX_LABEL} characters, none of them a control character`
const PERIODS = ['all', ...(Object.keys(RECENT_PERIOD_HOURS) as RecentPeriod[])] as const

const look = () => ({
  label: once(z.optional(z.string().check(z.refine(isBadgeText, LABEL_RULE)))),
  color: once(z.optional(parsed(parseColor, COLOR_RULE))),
  label_color: once(z.optional(parsed(parseColor, COLOR_RULE))),
  period: once(z._default(choice(PERIODS), 'all')),
  compact: once(z._default(z.enum(['true', 'false'], { error: 'must be true or false' }), 'false')),
})

/** What may be asked of a drawn badge. */
export const svgQuery = () => ({ ...look(), style: once(z._default(choice(BADGE_STYLES), 'flat')) })

export type SvgQuery = z.output<z.ZodMiniObject<ReturnType<typeof svgQuery>>>

/** What may be asked of a badge that shields.io draws. It draws what the JSON says, and has styles that are not drawn here. */
const jsonQuery = () => ({ ...look(), style: once(z.optional(choice([...BADGE_STYLES, 'plastic', 'social']))) })

export const WRONG = {
  400: 'The key or the query string is not percent-encoded UTF-8.',
  404: 'The type does not exist or is not public.',
  422: 'The key or a parameter is invalid. The badge says which.',
  429: 'Too many requests from this network.',
  503: 'The database is unavailable.',
}

/** What a badge may answer: itself, or one that says what is wrong, in a form that may depend on the status. */
function answersOf(badge: Omit<Answer, 'description'>, wrong: (status: number) => Omit<Answer, 'description'>) {
  const refusals = Object.entries(WRONG).map(([status, description]): [string, Answer] => [
    status,
    { description, ...wrong(Number(status)) },
  ])
  return {
    tag: 'Badges',
    answers: { 200: { description: 'The badge.', ...badge }, ...Object.fromEntries(refusals) },
    revalidated: true,
  } as const
}

/** What a badge that is drawn here may answer. */
function drawnAnswers() {
  const contentType = 'image/svg+xml'
  return answersOf({ contentType }, () => ({ contentType, headers: ['Cache-Control'] }))
}

/** The JSON that the endpoint badge of shields.io expects (https://shields.io/badges/endpoint-badge). */
function shieldsAnswers() {
  const shown = namedObject('ShieldsBadge', {
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
  })
  const wrong = namedObject('ShieldsError', {
    schemaVersion: z.literal(1),
    label: z.string(),
    message: described(z.string(), 'What went wrong.'),
    color: z.string(),
    isError: z.literal(true),
    cacheSeconds: z.int(),
  })
  return answersOf({ schema: shown }, (status) => ({
    schema: wrong,
    ...(status >= 429 && { headers: ['Retry-After'] }),
  }))
}

const REFUSED = { schemaVersion: 1, label: 'counter', color: 'red', isError: true, cacheSeconds: 300 }
/** Pages are looked at more often than their numbers matter, and an old badge is better than none. */
export const CACHE_CONTROL = 'public, max-age=60, stale-while-revalidate=300, stale-if-error=86400'

const OF_TOTAL = { method: 'get', access: 'anyone', params: { type: typeParam } } as const
const OF_COUNTER = { method: 'get', access: 'anyone', params: COUNTER_PARAMS } as const

export const svgTotalBadge = {
  ...OF_TOTAL,
  path: '/badge/{type}.svg',
  query: () => ({ ...svgQuery(), prefix: prefixField() }),
} as const satisfies Route

export const svgTotalBadgeContract = /* @__PURE__ */ documented(svgTotalBadge, () => ({
  id: 'badgeTotalSvg',
  summary: 'Get the badge of a total as SVG',
  description: 'Shows the sum of all counters of a type, or of those whose keys begin with a prefix.',
  ...drawnAnswers(),
  examples: {
    badge: {
      summary: 'All downloads in the last 30 days',
      params: { type: 'download' },
      query: { period: 'month', label: 'downloads/month' },
      says: { 'Cache-Control': CACHE_CONTROL },
    },
  },
}))

export const jsonTotalBadge = {
  ...OF_TOTAL,
  path: '/badge/{type}.json',
  query: () => ({ ...jsonQuery(), prefix: prefixField() }),
} as const satisfies Route

export const jsonTotalBadgeContract = /* @__PURE__ */ documented(jsonTotalBadge, () => ({
  id: 'badgeTotalJson',
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

export const svgBadge = { ...OF_COUNTER, path: '/badge/{type}/{key}.svg', query: svgQuery } as const satisfies Route

export const svgBadgeContract = /* @__PURE__ */ documented(svgBadge, () => ({
  id: 'badgeSvg',
  summary: 'Get a badge as SVG',
  description:
    'Viewing a badge does not count. Errors are badges too: they show the message and have the matching status.',
  ...drawnAnswers(),
  examples: {
    badge: {
      summary: 'Downloads in the last 7 days',
      params: { type: 'download', key: 'app-1.2.0.tgz' },
      query: { period: 'week', label: 'this week', style: 'flat-square' },
      says: { 'Cache-Control': CACHE_CONTROL },
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

export const jsonBadge = { ...OF_COUNTER, path: '/badge/{type}/{key}.json', query: jsonQuery } as const satisfies Route

export const jsonBadgeContract = /* @__PURE__ */ documented(jsonBadge, () => ({
  id: 'badgeJson',
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
