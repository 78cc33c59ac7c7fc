import type { Context } from 'hono'
import * as v from 'valibot'
import type { CounterType } from '../config/counter-types.ts'
import { countIn } from '../counters/read/read-counters.ts'
import { RECENT_PERIOD_HOURS, type RecentPeriod } from '../counters/read/recent-period.ts'
import { toJsonNumber } from '../database/values.ts'
import { callerOf } from '../http/caller.ts'
import type { AppEnv } from '../http/hono.ts'
import { readQuery } from '../http/url.ts'
import { count, described, namedObject, operation, route, whole } from '../openapi/contract.ts'
import { choice, prefixField } from '../openapi/fields.ts'
import { parsed, textThat } from '../schemas.ts'
import type { ParametersOf } from '../service/check-input.ts'
import { listedPrefix } from '../service/named-counters.ts'
import { readCounters, readRecent, readSum } from '../service/read.ts'
import {
  BADGE_STYLES,
  type Badge,
  COLOR_RULE,
  drawBadge,
  isBadgeText,
  MAX_LABEL,
  parseColor,
  showCount,
} from '../views/badge.ts'
import {
  answersOf,
  CACHE_CONTROL,
  type ImageSubject,
  images,
  SHIELDS_CACHE_SECONDS,
  svgAnswers,
} from './public-image.ts'

const LABEL_RULE = `must have at most ${MAX_LABEL} characters, none of them a control character`
const PERIODS = ['all', ...(Object.keys(RECENT_PERIOD_HOURS) as RecentPeriod[])] as const

const look = () => ({
  label: v.optional(textThat(LABEL_RULE, isBadgeText)),
  color: v.optional(parsed(parseColor, COLOR_RULE)),
  label_color: v.optional(parsed(parseColor, COLOR_RULE)),
  period: v.optional(choice(PERIODS), 'all'),
  compact: v.optional(v.picklist(['true', 'false'], 'must be true or false'), 'false'),
})

export const svgQuery = () => ({ ...look(), style: v.optional(choice(BADGE_STYLES), 'flat') })

export type SvgQuery = ParametersOf<typeof svgQuery>

const svgTotalQuery = () => ({ ...svgQuery(), prefix: prefixField() })

const jsonQuery = () => ({ ...look(), style: v.optional(choice(BADGE_STYLES)) })
const jsonTotalQuery = () => ({ ...jsonQuery(), prefix: prefixField() })

/** The JSON that the endpoint badge of shields.io expects (https://shields.io/badges/endpoint-badge). */
function jsonAnswers() {
  const shown = namedObject('ShieldsBadge', {
    schemaVersion: v.literal(1),
    label: v.string(),
    message: described(v.string(), 'The count, formatted for display.'),
    color: v.string(),
    labelColor: v.optional(v.string()),
    style: v.optional(v.string()),
    cacheSeconds: whole,
    count: described(
      v.optional(count),
      'The count as a number; left out for shields.io, which rejects unknown members.',
    ),
  })
  const wrong = namedObject('ShieldsError', {
    schemaVersion: v.literal(1),
    label: v.string(),
    message: described(v.string(), 'What went wrong.'),
    color: v.string(),
    isError: v.literal(true),
    cacheSeconds: whole,
  })
  return answersOf('The badge.', { schema: shown }, (status) => ({
    schema: wrong,
    ...(status >= 429 && { headers: ['Retry-After'] }),
  }))
}

const REFUSED = { schemaVersion: 1, label: 'counter', color: 'red', isError: true, cacheSeconds: 300 }

export const svgTotalBadgeContract = () =>
  operation(route('get', '/badge/{type}.svg', 'anyone', { query: svgTotalQuery }), {
    id: 'badgeTotalSvg',
    summary: 'Get the badge of a total as SVG',
    description: 'The sum of all counters of a type, or of those whose keys begin with a prefix.',
    ...svgAnswers('The badge.'),
    examples: {
      badge: {
        summary: 'All downloads in the last 30 days',
        params: { type: 'download' },
        query: { period: 'month', label: 'downloads' },
        says: { 'Cache-Control': CACHE_CONTROL },
      },
    },
  })

export const jsonTotalBadgeContract = () =>
  operation(route('get', '/badge/{type}.json', 'anyone', { query: jsonTotalQuery }), {
    id: 'badgeTotalJson',
    summary: 'Get the badge of a total for shields.io',
    description: 'The same as JSON for the endpoint badge of shields.io.',
    ...jsonAnswers(),
    examples: {
      unlisted: {
        summary: 'A prefix that the type does not list',
        params: { type: 'download' },
        query: { prefix: 'app-' },
        status: 422,
        answer: { ...REFUSED, message: 'prefix is not public' },
      },
    },
  })

export const svgBadgeContract = () =>
  operation(route('get', '/badge/{type}/{key}.svg', 'anyone', { query: svgQuery }), {
    id: 'badgeSvg',
    summary: 'Get a badge as SVG',
    description:
      'Viewing a badge does not count. Errors are badges too: they show a message and have the matching status.',
    ...svgAnswers('The badge.'),
    examples: {
      badge: {
        summary: 'Downloads in the last 7 days',
        params: { type: 'download', key: 'app-1.2.0.tgz' },
        query: { period: 'week', label: 'downloads', style: 'flat-square' },
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
  })

export const jsonBadgeContract = () =>
  operation(route('get', '/badge/{type}/{key}.json', 'anyone', { query: jsonQuery }), {
    id: 'badgeJson',
    summary: 'Get a badge for shields.io',
    description: 'JSON for the endpoint badge of shields.io. Use it as `https://img.shields.io/endpoint?url=…`.',
    ...jsonAnswers(),
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
        answer: { ...REFUSED, message: 'The counter type is not configured' },
      },
    },
  })

/** Badges of public types. */
export const badges = images('badge', ['svg', 'json'], (c, subject, format) =>
  format === 'svg' ? svg(c, subject) : json(c, subject),
)

/** The count that an image shows. A prefix is for totals. */
export async function countShown(
  c: Context<AppEnv>,
  { type, counter }: ImageSubject,
  { period, prefix }: { period: RecentPeriod | 'all'; prefix?: string | undefined },
): Promise<bigint> {
  const caller = callerOf(c)
  if (counter === null) {
    const which = period === 'all' ? 'exact' : period
    return countIn((await readSum(caller, type, listedPrefix(type, prefix), which)).reading)
  }
  if (period !== 'all') return readRecent(caller, counter, period)
  return countIn((await readCounters(caller, [counter])).readings[0]!)
}

async function svg(c: Context<AppEnv>, subject: ImageSubject): Promise<string> {
  const query = readQuery(c.req.url, subject.counter === null ? svgTotalQuery : svgQuery, true)
  return drawBadge(badgeOf(subject.type, await countShown(c, subject, query), query))
}

export function badgeOf(type: CounterType, count: bigint, query: SvgQuery): Badge {
  return {
    label: query.label ?? type.unit,
    message:
      showCount(count, { compact: query.compact === 'true' }) + (query.period === 'all' ? '' : `/${query.period}`),
    color: query.color ?? 'blue',
    labelColor: query.label_color ?? 'grey',
    style: query.style,
  }
}

async function json(c: Context<AppEnv>, subject: ImageSubject): Promise<object> {
  const query = readQuery(c.req.url, subject.counter === null ? jsonTotalQuery : jsonQuery, true)
  const count = await countShown(c, subject, query)
  const { label, message, color } = badgeOf(subject.type, count, { ...query, style: 'flat' })
  return {
    schemaVersion: 1,
    label,
    message,
    color,
    ...(query.label_color !== undefined && { labelColor: query.label_color }),
    ...(query.style !== undefined && { style: query.style }),
    cacheSeconds: SHIELDS_CACHE_SECONDS,
    // shields.io refuses unknown members (badges/shields, services/endpoint-common.js). Its servers identify themselves.
    ...(!/^shields/i.test(c.req.header('User-Agent') ?? '') && { count: toJsonNumber(count) }),
  }
}
