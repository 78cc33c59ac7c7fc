import { type ExamplesOf, exampleInvalid, exampleUnknownType } from '../example.ts'

const NEVER_COUNTED = { count: 0, total: 0, pending: 0, consistency: 'exact', rolledUpAt: null }
const COUNTED = { ...NEVER_COUNTED, rolledUpAt: '2026-11-20T10:00:00.000Z' }

const TWO_DAYS = { from: '2026-11-01', to: '2026-11-03', tz: 'Europe/Berlin' }
const EMPTY_DAYS = {
  by: 'day',
  timeZone: 'Europe/Berlin',
  from: '2026-11-01T00:00:00+01:00',
  to: '2026-11-03T00:00:00+01:00',
  points: [
    { start: '2026-11-01T00:00:00+01:00', count: 0 },
    { start: '2026-11-02T00:00:00+01:00', count: 0 },
  ],
}

export const READING_EXAMPLES: ExamplesOf<'Reading'> = {
  read: {
    exact: {
      summary: 'An exact count',
      params: { type: 'page_view', key: '/blog/hello' },
      answer: { type: 'page_view', key: '/blog/hello', ...COUNTED, count: 12, total: 10, pending: 2 },
    },
    rolled: {
      summary: 'As of the last roll-up',
      params: { type: 'page_view', key: '/never' },
      query: { consistency: 'rolled' },
      answer: { type: 'page_view', key: '/never', ...NEVER_COUNTED, pending: null, consistency: 'rolled' },
    },
  },
  readMany: {
    two: {
      summary: 'Two counters',
      params: { type: 'page_view' },
      query: { key: ['/a', '/b'] },
      answer: {
        counters: [
          { type: 'page_view', key: '/a', ...NEVER_COUNTED },
          { type: 'page_view', key: '/b', ...NEVER_COUNTED },
        ],
      },
    },
    emptyKey: {
      summary: 'An empty key',
      params: { type: 'page_view' },
      query: { key: ['/a', ''] },
      status: 422,
      answer: exampleInvalid('key.1', 'must not be empty'),
    },
    unknownType: {
      summary: 'A type that is not configured',
      params: { type: 'nothing' },
      query: { key: ['/a'] },
      status: 404,
      answer: exampleUnknownType(),
    },
  },
  typeTotal: {
    type: {
      summary: 'All counters of a type',
      params: { type: 'download' },
      answer: { type: 'download', prefix: null, ...COUNTED },
    },
  },
  history: {
    days: {
      summary: 'Two days in Berlin',
      params: { type: 'page_view', key: '/never' },
      query: TWO_DAYS,
      answer: { type: 'page_view', key: '/never', ...EMPTY_DAYS, adjustments: [], consistency: 'exact' },
    },
    backwards: {
      summary: 'A range that ends before it begins',
      params: { type: 'page_view', key: '/never' },
      query: { from: '2026-11-02', to: '2026-11-01' },
      status: 422,
      answer: exampleInvalid('to', 'must be after "from"'),
    },
  },
  typeHistory: {
    days: {
      summary: 'Two days in Berlin',
      params: { type: 'page_view' },
      query: TWO_DAYS,
      answer: { type: 'page_view', ...EMPTY_DAYS, consistency: 'rolled' },
    },
  },
  shown: {
    page: {
      summary: 'A page, all pages, and a type that is not configured',
      query: { of: ['page_view /caf%C3%A9', 'page_view* ', 'nothing /a'] },
      answer: [0, 0, null],
    },
  },
  compare: {
    releases: {
      summary: 'Two files, of which one was never counted',
      params: { type: 'page_view' },
      query: { key: ['/blog/hello', '/never'] },
      answer: {
        type: 'page_view',
        counters: [
          { key: '/blog/hello', first: '2026-11-18', counts: [4, 0, 6] },
          { key: '/never', first: null, counts: [] },
        ],
        consistency: 'rolled',
      },
    },
    emptyKey: {
      summary: 'An empty key',
      params: { type: 'page_view' },
      query: { key: ['/a', ''] },
      status: 422,
      answer: exampleInvalid('key.1', 'must not be empty'),
    },
  },
  top: {
    january: {
      summary: 'A past month',
      params: { type: 'download' },
      query: { period: 'month', date: '2026-01-15', limit: '3' },
      answer: {
        type: 'download',
        period: 'month',
        start: '2026-01-01T00:00:00.000Z',
        end: '2026-02-01T00:00:00.000Z',
        counters: [],
        consistency: 'rolled',
      },
    },
    year: {
      summary: 'A section in one year',
      params: { type: 'page_view' },
      query: { prefix: '/blog/', from: '2026-01-01', to: '2027-01-01' },
      answer: {
        type: 'page_view',
        period: 'custom',
        start: '2026-01-01T00:00:00.000Z',
        end: '2027-01-01T00:00:00.000Z',
        counters: [{ key: '/blog/hello', count: 218 }],
        consistency: 'rolled',
      },
    },
    dateOfAll: {
      summary: 'A date without a period',
      params: { type: 'download' },
      query: { date: '2026-01-15' },
      status: 422,
      answer: exampleInvalid('date', 'needs a period: day, week or month'),
    },
  },
  search: {
    none: {
      summary: 'Keys that begin with /docs/',
      params: { type: 'page_view' },
      query: { prefix: '/docs/' },
      answer: { counters: [], next: null },
    },
  },
  export: {
    firstPage: {
      summary: 'The first page',
      params: { type: 'download' },
      query: { limit: '100' },
      answer: { rows: [{ key: 'app-1.2.0.tgz', count: 5 }], next: null },
    },
  },
}
