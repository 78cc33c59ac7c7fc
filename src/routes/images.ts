import type { Context } from 'hono'
import * as v from 'valibot'
import type { CounterType } from '../config/counter-types.ts'
import { dayText } from '../counters/calendar.ts'
import type { CounterAddress } from '../counters/counter-address.ts'
import { callerOf } from '../http/caller.ts'
import type { AppEnv, HonoApp } from '../http/hono.ts'
import { answerTo, reported } from '../http/problem-response.ts'
import { limitReading, readableByAll, revalidated } from '../http/reading.ts'
import { decodeKey, pathType, rawPathKey, readQuery } from '../http/url.ts'
import { type Answer, operation, route } from '../openapi/contract.ts'
import * as fields from '../openapi/fields.ts'
import { CHART_PERIODS, type ChartPeriod, chartHistory } from '../service/history.ts'
import { counterOfKey, listedPrefix } from '../service/named-counters.ts'
import { Problem } from '../service/problem.ts'
import { drawBadge, refusalText, SVG_HEADERS } from '../views/badge.ts'
import { drawChartImage } from '../views/chart.ts'

/** An old image is better than none. */
const CACHE_CONTROL = 'public, max-age=60, stale-while-revalidate=300, stale-if-error=86400'

/** The least that shields.io accepts. */
export const SHIELDS_CACHE_SECONDS = 300

export const WRONG = {
  400: 'The key or the query string is not percent-encoded UTF-8.',
  404: 'The type does not exist or is not public.',
  422: 'The key or a parameter is invalid. The image says which.',
  429: 'Too many requests from this network.',
  503: 'The database is unavailable.',
}

/** The responses of an image: itself, or one that shows the error, in a form that may depend on the status. */
export function answersOf(
  description: string,
  image: Omit<Answer, 'description'>,
  wrong: (status: number) => Omit<Answer, 'description'>,
) {
  const refused = (status: keyof typeof WRONG) => ({ description: WRONG[status], ...wrong(status) })
  const refusals = { 400: refused(400), 404: refused(404), 422: refused(422), 429: refused(429), 503: refused(503) }
  return { answers: { 200: { description, ...image }, ...refusals }, revalidated: true } as const
}

export function svgAnswers(description: string) {
  const contentType = 'image/svg+xml'
  return answersOf(description, { contentType }, () => ({ contentType, headers: ['Cache-Control'] }))
}

/** What an image shows: the counter of a key, or a total of the type. */
export interface ImageSubject {
  type: CounterType
  counter: CounterAddress | null
}

/** Serves images of public types, at `/KIND/TYPE/KEY.FORMAT` and `/KIND/TYPE.FORMAT`. @param draw an SVG, or the JSON of a badge */
export const images =
  <Format extends string>(
    path: `/${string}/:type/*`,
    formats: readonly Format[],
    draw: (c: Context<AppEnv>, subject: ImageSubject, format: Format) => Promise<string | object>,
  ) =>
  (app: HonoApp) =>
    app.on(['GET', 'OPTIONS'], path, readableByAll).get(path, revalidated, (c) =>
      answerImage(c, formats, async (subject, format) => {
        const drawn = await draw(c, subject, format)
        if (typeof drawn === 'string') return c.body(drawn, 200, { ...SVG_HEADERS, 'Cache-Control': CACHE_CONTROL })
        return c.json(drawn, 200, { 'Cache-Control': CACHE_CONTROL, Vary: 'User-Agent' })
      }),
    )

/** Answers with an image, of errors too: it has no other way to report one. @param answer throws problems, which `refuse` draws */
export async function answerImage<Format extends string>(
  c: Context<AppEnv>,
  formats: readonly Format[],
  answer: (subject: ImageSubject, format: Format) => Promise<Response>,
  refuse = (problem: Problem, format: Format) => refusal(c, problem, format !== 'json'),
): Promise<Response> {
  // Before decoding: a key may itself end in .svg, and the suffix of the path follows it.
  const key = rawPathKey(c)
  const isTotal = key === '' && !new URL(c.req.url).pathname.endsWith('/')
  const path = isTotal ? (c.req.param('type') ?? '') : key
  const format = formats.find((format) => path.endsWith(`.${format}`))
  if (format === undefined) return c.notFound()
  const name = path.slice(0, -1 - format.length)
  try {
    await limitReading(c)
    if (isTotal) return await answer({ type: publicType(c, name), counter: null }, format)
    if (name.includes('/')) throw new Problem('not_found', 'write / in the key as %2F')
    const type = publicType(c)
    const counter = await counterOfKey(c.get('isolate').addresses, type, decodeKey(name))
    return await answer({ type, counter }, format)
  } catch (error) {
    return refuse(reported(c, error), format)
  }
}

/** The type that the path names. An image has no token, so other types do not exist for it. @throws {Problem} 404 */
function publicType(c: Context<AppEnv>, name?: string): CounterType {
  const type = pathType(c, name)
  if (!type.public) throw new Problem('unknown_type', 'The type in the path is not configured.')
  return type
}

/** A badge that shows an error. It never repeats what the client sent. */
export function refusal(c: Context<AppEnv>, problem: Problem, drawn: boolean): Response {
  const { status, headers } = answerTo(problem)
  const passes = status >= 500 || status === 429
  const badge = { label: 'counter', message: refusalText(problem), color: passes ? 'lightgrey' : 'red' }
  if (!passes) headers['Cache-Control'] = 'public, max-age=60'
  if (drawn) {
    const image = drawBadge({ ...badge, labelColor: 'grey', style: 'flat' })
    return c.body(image, status, { ...SVG_HEADERS, ...headers })
  }
  const answer = { schemaVersion: 1, ...badge, isError: true, cacheSeconds: SHIELDS_CACHE_SECONDS }
  return c.json(answer, status, headers)
}

const chartQuery = () => {
  const periods = fields.choice(Object.keys(CHART_PERIODS) as ChartPeriod[])
  return { period: v.optional(periods, '30d') }
}

const CHART_NOTES = { period: 'Days or months up to now, in UTC.' }

const totalChartQuery = () => ({ ...chartQuery(), prefix: fields.prefix() })

export const totalChartContract = () =>
  operation(route('get', '/chart/{type}.svg', 'anyone', { query: totalChartQuery }), 'Images', 'chartTotal', {
    summary: 'Get the chart of a total',
    description: 'All counters of a type, or those whose keys begin with a prefix, as of the last roll-up.',
    notes: CHART_NOTES,
    ...svgAnswers('The chart.'),
  })

export const counterChartContract = () =>
  operation(route('get', '/chart/{type}/{key}.svg', 'anyone', { query: chartQuery }), 'Images', 'chart', {
    summary: 'Get a chart',
    description:
      'The counts by day or month as an SVG, light or dark as its reader prefers. It may be a minute old. Viewing it does not count. Errors are badges that show a message and have the matching status.',
    notes: CHART_NOTES,
    ...svgAnswers('The chart.'),
  })

/** Charts of public types. */
export const charts = images('/chart/:type/*', ['svg'], async (c, { type, counter }) => {
  const { period } = readQuery(c.req.url, chartQuery, true)
  const of = counter ?? { prefix: listedPrefix(type, readQuery(c.req.url, totalChartQuery, true).prefix) }
  const { starts, counts } = await chartHistory(callerOf(c), type, of, period)
  const points = starts.map((at, index) => ({ start: new Date(at).toISOString(), count: counts[index]! }))
  return drawChartImage(type, { by: CHART_PERIODS[period].by, points }, dayText(Date.now()))
})
