import type { ExamplesOf } from '../example.ts'

const CACHED = { 'Cache-Control': 'public, max-age=60, stale-while-revalidate=300, stale-if-error=86400' }
const REFUSED = { schemaVersion: 1, label: 'counter', color: 'red', isError: true, cacheSeconds: 300 }

export const IMAGE_EXAMPLES: ExamplesOf<'Images'> = {
  badgeTotalSvg: {
    badge: {
      summary: 'All downloads in the last 30 days',
      params: { type: 'download' },
      query: { period: 'month', label: 'downloads' },
      says: CACHED,
    },
  },
  badgeTotalJson: {
    unlisted: {
      summary: 'A prefix that the type does not list',
      params: { type: 'download' },
      query: { prefix: 'app-' },
      status: 422,
      answer: { ...REFUSED, message: 'prefix is not public' },
    },
  },
  badgeSvg: {
    badge: {
      summary: 'Downloads in the last 7 days',
      params: { type: 'download', key: 'app-1.2.0.tgz' },
      query: { period: 'week', label: 'downloads', style: 'flat-square' },
      says: CACHED,
    },
    misspelt: {
      summary: 'An unknown color',
      params: { type: 'download', key: 'app-1.2.0.tgz' },
      query: { color: 'blurple' },
      status: 422,
      says: { 'Cache-Control': 'public, max-age=60' },
    },
  },
  badgeJson: {
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
  chartTotal: {
    chart: {
      summary: 'All downloads in the last twelve months',
      params: { type: 'download' },
      query: { period: '12m' },
      says: CACHED,
    },
  },
  chart: {
    chart: {
      summary: 'Downloads in the last 30 days',
      params: { type: 'download', key: 'app-1.2.0.tgz' },
      says: CACHED,
    },
    unknownType: {
      summary: 'A type that is not configured',
      params: { type: 'nothing', key: 'app.tgz' },
      status: 404,
      says: { 'Cache-Control': 'public, max-age=60' },
    },
  },
}
