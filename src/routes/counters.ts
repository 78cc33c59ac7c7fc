import * as v from 'valibot'
import { MAX_READ } from '../counters/read/read-counters.ts'
import { askedPrefix } from '../http/authorization.ts'
import { publicReading } from '../http/endpoint.ts'
import { count, described, instant, namedObject, ok, operation, route } from '../openapi/contract.ts'
import { consistencyFields, counterQuery, countersQuery, readField, totalQuery } from '../openapi/fields.ts'
import { exampleInvalid, exampleUnknownType, READING } from '../openapi/problems.ts'
import { counterOfKey } from '../service/named-counters.ts'
import { counterAnswer, readCounters, readSum, totalAnswer } from '../service/read.ts'

const figures = (countMeans: string) => ({
  count: described(count, countMeans),
  total: described(count, 'The rolled-up part.'),
  pending: described(v.nullable(count), 'The part that has not been rolled up yet; null if it was not read.'),
})

const reading = () =>
  namedObject('Reading', {
    type: v.string(),
    key: v.string(),
    ...figures('The count: total, plus pending if it was read.'),
    consistency: readField('exact', 'rolled'),
    rolledUpAt: described(v.nullable(instant), 'When the counter was last rolled up; null if never.'),
  })

const NEVER_COUNTED = { count: 0, total: 0, pending: 0, consistency: 'exact', rolledUpAt: null }
const COUNTED = { ...NEVER_COUNTED, rolledUpAt: '2026-11-20T10:00:00.000Z' }

const read = route('get', '/v1/counters/{type}/{key}', 'read-unless-public', { query: counterQuery })

export const readContract = () =>
  operation(read, {
    id: 'read',
    tag: 'Reading',
    summary: 'Get a counter',
    description: 'A key that was never counted returns zeros.',
    answers: ok('The counter.', reading()),
    problems: [...READING],
    examples: {
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
  })

const readMany = route('get', '/v1/counters/{type}', 'read-unless-public', { query: countersQuery })

export const readManyContract = () =>
  operation(readMany, {
    id: 'readMany',
    tag: 'Reading',
    summary: 'List counters',
    description: `Returns the counters of up to ${MAX_READ} keys, in the order of the keys. Cloudflare limits the URL to 16 KB. Exact counts all come from one snapshot.`,
    answers: ok('The counters.', v.strictObject({ counters: v.array(reading()) })),
    problems: [...READING],
    examples: {
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
  })

export const counter = publicReading<typeof readContract>(read, async (_, { caller, type, key, counter, query }) => {
  const { readings, maxAge } = await readCounters(caller, [counter], query.consistency)
  return { answer: counterAnswer(type, key, readings[0]!), maxAge }
})

export const counters = publicReading<typeof readManyContract>(readMany, async (_, { caller, type, query }) => {
  const { addresses } = caller.isolate
  const named = await Promise.all(query.key.map((key, index) => counterOfKey(addresses, type, key, `key.${index}`)))
  const { readings, maxAge } = await readCounters(caller, named, query.consistency)
  const answers = readings.map((reading, index) => counterAnswer(type, query.key[index]!, reading))
  return { answer: { counters: answers }, maxAge }
})

const totalOfType = route('get', '/v1/types/{type}', 'read-unless-public', { query: totalQuery })

export const totalOfTypeContract = () =>
  operation(totalOfType, {
    id: 'typeTotal',
    tag: 'Reading',
    summary: 'Get the total of a type',
    description:
      'The sum of all counters of the type, or of those whose keys begin with a prefix. A request for `exact` is answered with `rolled`, as of the last roll-up, while very many slots are pending. Without a token, that of a prefix may be ten seconds old. `consistency` says which.',
    answers: ok(
      'The total.',
      namedObject('TypeTotal', {
        type: v.string(),
        prefix: v.nullable(v.string()),
        ...figures('total, plus pending if it was read.'),
        ...consistencyFields('exact', 'rolled'),
        rolledUpAt: described(v.nullable(instant), 'When a roll-up last left nothing pending; null if none did.'),
      }),
    ),
    problems: ['too_many_keys', ...READING],
    examples: {
      type: {
        summary: 'All counters of a type',
        params: { type: 'download' },
        answer: { type: 'download', prefix: null, ...COUNTED },
      },
    },
  })

export const typeTotal = publicReading<typeof totalOfTypeContract>(totalOfType, async (c, { caller, type, query }) => {
  const prefix = await askedPrefix(c, type, query.prefix)
  const { reading, maxAge, asOf } = await readSum(caller, type, prefix, query.consistency)
  return { answer: totalAnswer(type, prefix, reading, asOf), maxAge }
})
