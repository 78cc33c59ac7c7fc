import { etag, RETAINED_304_HEADERS } from 'hono/etag'

/** Adds an `ETag`. A 304 keeps the headers that scripts of other sites may read. */
export const revalidated = etag({
  retainedHeaders: [
    ...RETAINED_304_HEADERS,
    'access-control-allow-origin',
    'access-control-expose-headers',
    'x-request-id',
  ],
})
