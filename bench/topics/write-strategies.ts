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

/** The slotted counter pattern as published. */
export function published(slots: number): WriteStrategy {
  return {
    name: `published, ${slots.toLocaleString('en-US')} ${slots === 1 ? 'slot' : 'slots'}`,
    about: 'the published tables and upsert, one statement per request',
    worker: 'baselines',
    path: `/published?slots=${slots}`,
    counts: 'published_slotted_counters',
  }
}

/** The slotted counter pattern with our primary key. */
export function ownKey(slots: number): WriteStrategy {
  return {
    name: `our key, ${slots.toLocaleString('en-US')} ${slots === 1 ? 'slot' : 'slots'}`,
    about: 'primary key (type, id, slot), a random slot, one statement per request',
    worker: 'baselines',
    path: `/own?slots=${slots}`,
    counts: 'slotted_counters',
  }
}

/** Two writers never write the same slot. */
export const SLOT_PER_WRITER: WriteStrategy = {
  name: 'a slot per writer',
  about: 'our tables, a slot that no concurrent request uses, one statement per request',
  worker: 'baselines',
  path: '/batch',
  counts: 'slotted_counters',
}

/** The product. */
export const GROUP_COMMIT: WriteStrategy = {
  name: 'group commit',
  about: '`POST /hit`: a slot per writer, one statement for many requests',
  worker: 'product',
  path: '/hit',
  counts: 'slotted_counters',
}
