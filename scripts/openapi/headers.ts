import * as v from 'valibot'
import { HIT_REASONS } from '../../src/hit-reasons.ts'
import { described, type HeaderName, type Route } from '../../src/openapi/contract.ts'
import { MAX_IDEMPOTENCY_KEY } from '../../src/service/named-counters.ts'
import { hitProblems } from './problems.ts'

const REASONS = [...Object.keys(HIT_REASONS), ...hitProblems()]

/** The response headers that a client can rely on. */
export const HEADERS: Record<HeaderName, { description: string; schema: v.GenericSchema }> = {
  'X-Hit': {
    description:
      'The outcome. `counted`: committed to the database. `queued`: will be counted later. `ignored; reason=…`: not counted; the ' +
      `reason is ${REASONS.map((reason) => `\`${reason}\``).join(', ')}. \`unknown\`: the database did not confirm it.`,
    schema: v.pipe(
      v.string(),
      v.regex(new RegExp(`^(counted|queued|unknown|ignored; reason=(${REASONS.join('|')}))$`)),
    ),
  },
  'X-Request-Id': { description: 'The id under which the Worker logs this request.', schema: v.string() },
  ETag: { description: 'Send it in `If-None-Match` to get a 304 if nothing has changed.', schema: v.string() },
  'Cache-Control': { description: 'How long the response may be cached, and by whom.', schema: v.string() },
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    schema: v.pipe(v.string(), v.regex(/^\d+$/)),
  },
  'WWW-Authenticate': { description: 'The authentication scheme: Bearer.', schema: v.string() },
  'Content-Security-Policy': {
    description: 'What the page may load: only its own script and style.',
    schema: v.string(),
  },
  'Idempotent-Replayed': {
    description: 'Present if an earlier request with the same key took effect. This one changed nothing.',
    schema: v.literal('true'),
  },
  Location: { description: 'The URL of the file.', schema: v.string() },
}

const FOR_A_DAY = 'For 24 hours (`PRUNING.idempotency_hours`)'
const FOREVER = 'At any later time'
const OTHER_CONTENTS = {
  count: 'The same holds for another body: only the first request counts.',
  import: 'With another body, it is refused: `idempotency_key_reused`.',
  set: 'With another body for the same counter, it is refused: `idempotency_key_reused`.',
}

/** The `Idempotency-Key` of an operation, by what it is for. Imports require it. */
export function idempotencyHeader(purpose: Route['idempotency']): v.ObjectEntries {
  if (purpose === undefined) return {}
  const period = purpose === 'count' ? FOR_A_DAY : FOREVER
  const key = described(
    v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_IDEMPOTENCY_KEY)),
    `A value unique to this request. ${period}, another request with the same key changes nothing, even from another client. ${OTHER_CONTENTS[purpose === 'move' ? 'set' : purpose]}`,
  )
  return { 'Idempotency-Key': purpose === 'import' ? key : v.optional(key) }
}
