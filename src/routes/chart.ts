import * as v from 'valibot'
import { callerOf } from '../http/caller.ts'
import { readQuery } from '../http/url.ts'
import { described, operation, route } from '../openapi/contract.ts'
import { choice, prefixField } from '../openapi/fields.ts'
import { CHART_PERIODS, type ChartPeriod, chartHistory } from '../service/history.ts'
import { listedPrefix } from '../service/named-counters.ts'
import { drawChart } from '../views/chart-svg.ts'
import { CACHE_CONTROL, images, svgAnswers } from './public-image.ts'

const PERIODS = Object.keys(CHART_PERIODS) as ChartPeriod[]

const chartQuery = () => ({
  period: described(v.optional(choice(PERIODS), '30d'), 'Days or months up to now, in UTC.'),
})

const totalQuery = () => ({ ...chartQuery(), prefix: prefixField() })

export const totalChartContract = () =>
  operation(route('get', '/chart/{type}.svg', 'anyone', { query: totalQuery }), {
    id: 'chartTotal',
    summary: 'Get the chart of a total',
    description: 'All counters of a type, or those whose keys begin with a prefix, as of the last roll-up.',
    ...svgAnswers('The chart.'),
    examples: {
      chart: {
        summary: 'All downloads of twelve months',
        params: { type: 'download' },
        query: { period: '12m' },
        says: { 'Cache-Control': CACHE_CONTROL },
      },
    },
  })

export const counterChartContract = () =>
  operation(route('get', '/chart/{type}/{key}.svg', 'anyone', { query: chartQuery }), {
    id: 'chart',
    summary: 'Get a chart',
    description:
      'The counts by day or month as an SVG, light or dark as its reader prefers. It may be a minute old. Viewing it does not count. Errors are badges that show a message and have the matching status.',
    ...svgAnswers('The chart.'),
    examples: {
      chart: {
        summary: 'Downloads in the last 30 days',
        params: { type: 'download', key: 'app-1.2.0.tgz' },
        says: { 'Cache-Control': CACHE_CONTROL },
      },
      unknownType: {
        summary: 'A type that is not configured',
        params: { type: 'nothing', key: 'app.tgz' },
        status: 404,
        says: { 'Cache-Control': 'public, max-age=60' },
      },
    },
  })

/** Charts of public types. */
export const charts = images('chart', ['svg'], async (c, { type, counter }) => {
  const { period } = readQuery(c.req.url, chartQuery, true)
  const of = counter ?? { prefix: listedPrefix(type, readQuery(c.req.url, totalQuery, true).prefix) }
  const { starts, counts } = await chartHistory(callerOf(c), type, of, period)
  return drawChart({ of: type, by: CHART_PERIODS[period].by, starts, counts, today: Date.now() })
})
