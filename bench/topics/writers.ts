import type { HttpVariant } from '../harness/http-variant.ts'

/** Ways to count one key, each in a Worker on the same runtime and through the same driver. */
export interface Writer extends Pick<HttpVariant, 'worker' | 'path' | 'counts'> {
  name: string
  about: string
}

/** One row per counter. */
export const ONE_ROW: Writer = {
  name: 'one row',
  about: 'one row per counter, one statement per request',
  worker: 'bare',
  path: '/one-row',
  counts: 'one_row_counters',
}

/** The pattern as published. */
export function published(slots: number): Writer {
  return {
    name: `published, ${slots.toLocaleString('en-US')} ${slots === 1 ? 'slot' : 'slots'}`,
    about: 'the published tables and upsert, one statement per request',
    worker: 'bare',
    path: `/published?slots=${slots}`,
    counts: 'published_slotted_counters',
  }
}

/** The pattern with our primary key. */
export function ownKey(slots: number): Writer {
  return {
    name: `our key, ${slots.toLocaleString('en-US')} ${slots === 1 ? 'slot' : 'slots'}`,
    about: 'primary key (type, id, slot), a random slot, one statement per request',
    worker: 'bare',
    path: `/own?slots=${slots}`,
    counts: 'slotted_counters',
  }
}

/** No slot is ever written by two at once. */
export const SLOT_PER_WRITER: Writer = {
  name: 'a slot per writer',
  about: 'our tables, a slot that nobody else uses meanwhile, one statement per request',
  worker: 'bare',
  path: '/batch',
  counts: 'slotted_counters',
}

/** The product. */
export const GROUP_COMMIT: Writer = {
  name: 'group commit',
  about: '`POST /hit`: a slot per writer, one statement for many requests',
  worker: 'product',
  path: '/hit',
  counts: 'slotted_counters',
}
