import * as z from 'zod'
import type { QueueProducer } from '../config.ts'
import type { Batch } from './batch.ts'
import { type Counter, counterId } from './counter.ts'

/** Cloudflare's limit is 128 KB a message, of its own encoding; JSON with room to spare. */
const MAX_MESSAGE_BYTES = 96 * 1024
/** The most that Cloudflare takes in one call is 256 KB and 100 messages. */
const MAX_SEND_BYTES = 192 * 1024

const KIND = 'slotted-counter/batch'
const MAX_64 = 2n ** 64n

const unsigned = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt)
  .refine((value) => value < MAX_64)
const signed = z
  .string()
  .regex(/^-?\d{1,30}$/)
  .transform(BigInt)

/** A batch, or part of one, on its way through the queue. Words and decimal numbers: a person may have to read it. */
const message = z.object({
  kind: z.literal(KIND),
  version: z.literal(1),
  /** When the oldest of it was counted. */
  since: z.iso.datetime(),
  /** Whether the database may have taken it already. */
  applied: z.enum(['no', 'unknown']),
  rows: z.array(
    z.object({
      type: z.int().min(1).max(65_535),
      id: unsigned,
      key: z.string().nullable(),
      add: signed,
      slot: unsigned,
      batch: unsigned,
    }),
  ),
})

type MessageRow = z.input<typeof message>['rows'][number]

/** What a message says. */
export interface QueuedBatch {
  since: Date
  applied: 'no' | 'unknown'
  batch: Batch
  /** The counters of its rows that have names. */
  named: Counter[]
}

/** Where batches go that the database did not take. */
export interface BatchQueue {
  /**
   * Puts a batch into the queue. Settles when all of it is there.
   *
   * @param counters those it adds to, for their names
   */
  send(batch: Batch, counters: Iterable<Counter>, facts: { since: Date; fate: 'no' | 'unknown' }): Promise<void>
}

/** Puts batches into a Cloudflare Queue, in as many messages as it takes: rows are recognised one by one. */
export function batchQueue(queue: QueueProducer): BatchQueue {
  return {
    async send(batch, counters, { since, fate }) {
      const names = new Map<string, string | null>()
      for (const counter of counters) names.set(counterId(counter), counter.name)
      const encoder = new TextEncoder()
      const parts: { body: z.input<typeof message>; bytes: number }[] = []
      for (const { recordType, recordId, slot, count, batch: id } of batch) {
        const row: MessageRow = {
          type: recordType,
          id: `${recordId}`,
          key: names.get(counterId({ recordType, recordId })) ?? null,
          add: `${count}`,
          slot: `${slot}`,
          batch: `${id}`,
        }
        const bytes = encoder.encode(JSON.stringify(row)).length + 1
        let part = parts.at(-1)
        if (part === undefined || part.bytes + bytes > MAX_MESSAGE_BYTES) {
          part = { body: { kind: KIND, version: 1, since: since.toISOString(), applied: fate, rows: [] }, bytes: 256 }
          parts.push(part)
        }
        part.body.rows.push(row)
        part.bytes += bytes
      }
      while (parts.length > 0) {
        let bytes = 0
        let take = 0
        while (take < parts.length && take < 100 && (take === 0 || bytes + parts[take]!.bytes <= MAX_SEND_BYTES)) {
          bytes += parts[take++]!.bytes
        }
        await queue.sendBatch(parts.splice(0, take).map(({ body }) => ({ body, contentType: 'json' as const })))
      }
    },
  }
}

/**
 * Reads a message from the queue.
 *
 * @returns what it says, or what is wrong with it
 */
export function readMessage(body: unknown): QueuedBatch | string {
  const parsed = message.safeParse(body)
  if (!parsed.success) return z.prettifyError(parsed.error)
  const { since, applied, rows } = parsed.data
  return {
    since: new Date(since),
    applied,
    batch: rows.map(({ type, id, slot, add, batch }) => ({ recordType: type, recordId: id, slot, count: add, batch })),
    named: rows.flatMap(({ type, id, key }) => (key === null ? [] : [{ recordType: type, recordId: id, name: key }])),
  }
}
