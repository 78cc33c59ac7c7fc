import type { HttpVariant } from '../harness/http-variant.ts'

/** A way to store increments, as a route of a Worker on the same runtime and driver as the product. */
export interface WriteStrategy extends Pick<HttpVariant, 'worker' | 'path' | 'counts'> {
  name: string
  about: string
}

export const ONE_ROW: WriteStrategy = {
  name: 'one row',
  about: 'one row per counter, one statement per request',
  worker: 'baselines',
  path: '/one-row',
  counts: 'one_row_counters',
}

/** The product. */
export const GROUP_COMMIT: WriteStrategy = {
  name: 'group commit',
  about: '`POST /hit`: a slot per writer, one statement for many requests',
  worker: 'product',
  path: '/hit',
  counts: 'slotted_counters',
}
