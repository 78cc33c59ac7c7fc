import { KEY_REUSED } from '../../../src/service/problem.ts'
import { type ExamplesOf, exampleInvalid, exampleNoCounter, exampleProblem } from '../example.ts'

const CARRY_OVER = {
  params: { type: 'page_view', key: '/about' },
  headers: { 'Idempotency-Key': 'carry-over-about' },
  body: { count: 1234 },
}
const CARRIED = { type: 'page_view', key: '/about', count: 1234 }

const MISSING = exampleNoCounter()

const TWO_COUNTS = {
  headers: { 'Idempotency-Key': 'old-counter-part-1' },
  body: {
    counters: [
      { type: 'page_view', key: '/about', count: 120, day: '2026-11-01' },
      { type: 'download', key: 'app.tgz', count: 4711 },
    ],
  },
  answer: { imported: 2 },
}

export const CHANGING_EXAMPLES: ExamplesOf<'Changing'> = {
  set: {
    carryOver: {
      summary: 'Carry over a number from another counter',
      ...CARRY_OVER,
      answer: { ...CARRIED, added: 1234 },
    },
    again: {
      summary: 'The same request again',
      ...CARRY_OVER,
      answer: { ...CARRIED, added: null },
      says: { 'Idempotent-Replayed': 'true' },
    },
    reading: {
      summary: 'A count from another source',
      params: { type: 'download', key: 'v1.2.0/app.tgz' },
      body: { count: 321, as: 'reading' },
      answer: { type: 'download', key: 'v1.2.0/app.tgz', count: 321, added: 321 },
    },
    otherCount: {
      summary: 'The same key with another count',
      ...CARRY_OVER,
      body: { count: 5 },
      status: 422,
      answer: exampleProblem('idempotency_key_reused', KEY_REUSED),
    },
  },
  delete: { missing: MISSING },
  rename: { missing: { ...MISSING, body: { to: '/new' } } },
  merge: { missing: { ...MISSING, body: { into: '/other' } } },
  readings: {
    release: {
      summary: 'The downloads of a release',
      body: {
        readings: [
          { type: 'download', key: 'v1.3.0/app.tgz', count: 57 },
          { type: 'download', key: 'v1.3.0/app.zip', count: 12 },
        ],
      },
      answer: { taken: 2, added: 69, refused: [] },
    },
    unknownType: {
      summary: 'A type that is not configured',
      body: { readings: [{ type: 'none', key: 'v1.3.0/app.tgz', count: 57 }] },
      status: 422,
      answer: exampleInvalid('readings.0.type', 'is not a configured counter type'),
    },
  },
  setLatest: {
    release: {
      summary: 'A new version',
      params: { type: 'download', key: 'app-latest.tgz' },
      body: { file: 'v1.3.0/app.tgz' },
      answer: { type: 'download', key: 'app-latest.tgz', file: 'v1.3.0/app.tgz' },
    },
    notAName: {
      summary: 'A key that is a file',
      params: { type: 'download', key: 'app.tgz' },
      body: { file: 'v1.3.0/app.tgz' },
      status: 422,
      answer: exampleInvalid('key', 'must contain the word "latest": all other keys are files'),
    },
  },
  import: {
    oneDay: { summary: 'One count with a day, one without', ...TWO_COUNTS },
    again: { summary: 'The same request again', ...TWO_COUNTS, says: { 'Idempotent-Replayed': 'true' } },
    tomorrow: {
      summary: 'A day in the future',
      headers: { 'Idempotency-Key': 'old-counter-part-2' },
      body: { counters: [{ type: 'page_view', key: '/about', count: 120, day: '9999-12-31' }] },
      status: 422,
      answer: exampleInvalid(
        'counters.0.day',
        'must be a day such as "2026-11-01", or an hour such as "2026-11-01T09", from 1970-01-01 to now (UTC)',
      ),
    },
  },
}
