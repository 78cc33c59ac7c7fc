import { etag, RETAINED_304_HEADERS } from 'hono/etag'

/** Gives readings that other sites fetch an `ETag`, and answers 304 with all that those sites may look at. */
export const revalidated = etag({
  retainedHeaders: [
    ...RETAINED_304_HEADERS,
    'access-control-allow-origin',
    'access-control-expose-headers',
    'x-request-id',
  ],
})
