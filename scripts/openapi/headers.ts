import * as v from 'valibot'
import { HIT_REASONS } from '../../src/hit-reasons.ts'
import type { HeaderName } from '../../src/openapi/contract.ts'
import { hitProblems } from './problems.ts'

const hitReasons = () => [...Object.keys(HIT_REASONS), ...hitProblems()]

const text = () => v.string()

/** The response headers that a client can rely on. */
export const HEADERS = {
  'X-Hit': {
    get description() {
      const reasons = hitReasons().map((reason) => `\`${reason}\``)
      return (
        'The outcome. `counted`: committed to the database. `queued`: will be counted later. `ignored; reason=…`: not counted; the ' +
        `reason is ${reasons.join(', ')}. \`unknown\`: the database did not confirm it.`
      )
    },
    schema: () => {
      const reasons = hitReasons().join('|')
      return v.pipe(v.string(), v.regex(new RegExp(`^(counted|queued|unknown|ignored; reason=(${reasons}))$`)))
    },
  },
  'X-Request-Id': { description: 'The id under which the Worker logs this request.', schema: text },
  ETag: { description: 'Send it in `If-None-Match` to get a 304 if nothing has changed.', schema: text },
  'Cache-Control': { description: 'How long the response may be cached, and by whom.', schema: text },
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    schema: () => v.pipe(v.string(), v.regex(/^\d+$/)),
  },
  'WWW-Authenticate': { description: 'The authentication scheme: Bearer.', schema: text },
  'Content-Security-Policy': { description: 'What the page may load: only its own script and style.', schema: text },
  'Idempotent-Replayed': {
    description: 'Present if an earlier request with the same key was served. This one changed nothing.',
    schema: () => v.literal('true'),
  },
  Location: { description: 'The URL of the file.', schema: text },
} as const satisfies Record<HeaderName, unknown>
