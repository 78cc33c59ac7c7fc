import { type ExamplesOf, exampleInvalid, exampleProblem, exampleUnknownType } from '../example.ts'

const FIREFOX = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' }

/** A hit with its parameters in the query. */
const exampleHit = (
  summary: string,
  query: { type?: string; automated?: string },
  said: string,
  headers = FIREFOX,
) => ({
  summary,
  query: { type: 'page_view', key: '/blog/hello', ...query },
  headers,
  says: { 'X-Hit': said },
})

export const COUNTING_EXAMPLES: ExamplesOf<'Counting'> = {
  hit: {
    body: {
      summary: 'In the body',
      headers: FIREFOX,
      body: { type: 'page_view', key: '/blog/hello' },
      says: { 'X-Hit': 'counted' },
    },
    query: exampleHit('In the query', {}, 'counted'),
    bot: exampleHit('A bot, which is not counted', {}, 'ignored; reason=bot', {
      'User-Agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)',
    }),
    automated: exampleHit(
      'A browser controlled by a program, which is not counted',
      { automated: '1' },
      'ignored; reason=automated',
    ),
    unknownType: {
      summary: 'A type that is not configured',
      headers: FIREFOX,
      body: { type: 'nothing', key: '/blog/hello' },
      status: 422,
      answer: exampleInvalid('type', 'is not a configured counter type'),
      says: { 'X-Hit': 'ignored; reason=type' },
    },
  },
  hitPixel: {
    pixel: exampleHit('A view', {}, 'counted'),
    unknownType: exampleHit('A type that is not configured', { type: 'nothing' }, 'ignored; reason=type'),
  },
  countingBadge: {
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
  download: {
    file: {
      summary: 'A file',
      params: { type: 'download', key: 'v1.2/app.zip' },
      headers: { 'User-Agent': 'curl/8.17.0' },
      says: { Location: 'https://files.example.com/dist/v1.2/app.zip', 'X-Hit': 'counted' },
    },
    rest: {
      summary: 'A resumed download, not counted again',
      params: { type: 'download', key: 'v1.2/app.zip' },
      headers: { 'User-Agent': 'curl/8.17.0', Range: 'bytes=1000-' },
      says: { Location: 'https://files.example.com/dist/v1.2/app.zip', 'X-Hit': 'ignored; reason=range' },
    },
    noDownloads: {
      summary: 'A type without downloads',
      params: { type: 'page_view', key: 'app.zip' },
      status: 404,
      answer: exampleProblem('not_found', 'This type has no downloads: its redirect_to is not set.'),
      says: { 'X-Hit': 'ignored; reason=not_found' },
    },
  },
  increment: {
    five: {
      summary: 'Add 5 and return the new count',
      params: { type: 'download', key: 'app-1.2.0.tgz' },
      query: { return: 'count' },
      body: { by: 5 },
      answer: { type: 'download', key: 'app-1.2.0.tgz', added: 5, count: 5 },
      says: { 'X-Hit': 'counted' },
    },
    one: {
      summary: 'Add 1 with an idempotency key',
      params: { type: 'page_view', key: '/blog/hello' },
      headers: { 'Idempotency-Key': 'visit-4711' },
      answer: { type: 'page_view', key: '/blog/hello', added: 1 },
      says: { 'X-Hit': 'counted' },
    },
    unknownType: {
      summary: 'A type that is not configured: nothing is counted',
      params: { type: 'nothing', key: 'app-1.2.0.tgz' },
      body: { by: 5 },
      status: 404,
      answer: exampleUnknownType(),
      says: { 'X-Hit': 'ignored; reason=unknown_type' },
    },
    withoutToken: {
      summary: 'Without the token',
      params: { type: 'download', key: 'app-1.2.0.tgz' },
      body: { by: 5 },
      status: 401,
      answer: exampleProblem('unauthorized', 'Send Authorization: Bearer <API_TOKEN>.'),
      says: { 'X-Hit': 'ignored; reason=unauthorized' },
    },
  },
  incrementMany: {
    two: {
      summary: 'Two counters, with an idempotency key',
      headers: { 'Idempotency-Key': 'import-2026-11-20-part-1' },
      body: {
        increments: [
          { type: 'page_view', key: '/a' },
          { type: 'download', key: 'app.tgz', by: 3 },
        ],
      },
      answer: { accepted: 2 },
      says: { 'X-Hit': 'counted' },
    },
    unknownType: {
      summary: 'A type that is not configured: nothing is counted',
      body: { increments: [{ type: 'nothing', key: '/a' }] },
      status: 422,
      answer: exampleInvalid('increments.0.type', 'is not a configured counter type'),
      says: { 'X-Hit': 'ignored; reason=invalid_request' },
    },
  },
}
