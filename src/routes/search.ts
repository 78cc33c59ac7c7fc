import * as v from 'valibot'
import { MAX_PAGE, searchCounters } from '../counters/read/search.ts'
import { endpoint } from '../http/endpoint.ts'
import { count, described, namedObject, ok, operation, route } from '../openapi/contract.ts'
import { afterField, limitField, nextField, readField } from '../openapi/fields.ts'
import { DATABASE } from '../openapi/problems.ts'

const searchKeys = route('get', '/v1/search/{type}', 'read', {
  query: () => ({
    prefix: described(v.optional(v.string(), ''), 'The beginning of the keys.'),
    after: afterField(v.string()),
    limit: limitField(MAX_PAGE, 20, 'Maximum number of counters on a page'),
  }),
})

export const searchKeysContract = () =>
  operation(searchKeys, {
    id: 'search',
    tag: 'Reading',
    summary: 'Search counters',
    description:
      'Finds counters by the beginning of their keys, sorted by the bytes of the keys. Public types need a token too.',
    answers: ok(
      'A page of counters.',
      namedObject('SearchPage', {
        counters: v.array(v.strictObject({ key: v.string(), count, consistency: readField('exact', 'rolled') })),
        next: nextField(),
      }),
    ),
    problems: [...DATABASE],
    examples: {
      none: {
        summary: 'Keys that begin with /docs/',
        params: { type: 'page_view' },
        query: { prefix: '/docs/' },
        answer: { counters: [], next: null },
      },
    },
  })

/** Needs a token for public types too: some keys may be known to few people. */
export const search = endpoint<typeof searchKeysContract>(
  searchKeys,
  (_, { caller, type, query: { prefix, after = null, limit } }) =>
    searchCounters(caller.db, type, { prefix, after, limit }),
)
