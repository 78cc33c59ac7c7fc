import * as z from 'zod'

/** The headers of answers that a client can rely on: what each says. */
export const HEADERS = {
  'X-Hit': {
    description:
      'What became of it: `counted` (committed to the database); `queued` (in the queue: it will be counted); `ignored; reason=…` ' +
      '(not counted: `type`, `origin`, `bot`, `prefetch`, `dnt`, `rate`, `duplicate`, `head`, `range`, or the `code` of the ' +
      'problem); `unknown` (the database did not say).',
    schema: z.string().regex(/^(counted|queued|unknown|ignored; reason=[\w-]+)$/),
  },
  'X-Request-Id': { description: 'Stands in the log beside what is logged of this request.', schema: z.string() },
  ETag: { description: 'Send it in `If-None-Match` to be answered 304 while nothing changes.', schema: z.string() },
  'Cache-Control': { description: 'How long the answer may be kept, and by whom.', schema: z.string() },
  'Retry-After': { description: 'Seconds after which to try again.', schema: z.string().regex(/^\d+$/) },
  'WWW-Authenticate': { description: 'Names the scheme: Bearer.', schema: z.string() },
  'Content-Security-Policy': { description: 'What the page may load: nothing.', schema: z.string() },
  'Idempotent-Replayed': {
    description: 'There if the request had been served before, and changed nothing now.',
    schema: z.literal('true'),
  },
  Location: { description: 'Where the file is.', schema: z.string() },
} as const

export type HeaderName = keyof typeof HEADERS

/** Characters that an `Idempotency-Key` may have. */
export const MAX_IDEMPOTENCY_KEY = 255

const idempotencyKey = (lasts: string) =>
  z
    .string()
    .min(1)
    .max(MAX_IDEMPOTENCY_KEY)
    .describe(
      `Text of your choice that stands for this one request: sent again with the same key, from wherever, it changes nothing, ${lasts}.`,
    )
const ALWAYS = 'however much later'

/** Recognises a request that counts when it is sent again. */
export const IDEMPOTENCY_KEY = {
  'Idempotency-Key': idempotencyKey('for 24 hours (`PRUNING.idempotency_hours`)').optional(),
}
/** Recognises a request that sets a counter. */
export const SETTING_KEY = { 'Idempotency-Key': idempotencyKey(ALWAYS).optional() }
/** Recognises an import, which is not taken without. */
export const IMPORT_KEY = { 'Idempotency-Key': idempotencyKey(ALWAYS) }
