import {
  createExecutionContext,
  createMessageBatch,
  getQueueResult,
  type MessageBatchMessage,
  type QueueResult,
} from 'cloudflare:test'
import { env as configured } from 'cloudflare:workers'
import { expect } from 'vitest'
import type { QueueProducer } from '../../src/counters/write/queue.ts'
import worker from '../../src/index.ts'
import type { TestWorker } from './worker.ts'

/** The bindings of vitest.config.ts: local queues, and the Worker that keeps what comes out of them. */
const { QUEUE_OF_BATCHES, QUEUE_OF_DEAD_BATCHES, QUEUE_SINK } = configured as unknown as {
  QUEUE_OF_BATCHES: QueueProducer
  QUEUE_OF_DEAD_BATCHES: QueueProducer
  QUEUE_SINK: Fetcher
}

/** Milliseconds within which a message must come out of a local queue. */
const DELIVERY_MS = 60_000

/** A message that came out of a queue. */
export interface Taken {
  id: string
  /** Milliseconds of `Date.now()`. */
  timestamp: number
  // biome-ignore lint/suspicious/noExplicitAny: the tests know its fields
  body: any
  attempts: number
}

/** A local queue with the limits of the platform. */
export class TestQueue {
  readonly binding: QueueProducer
  readonly #name: string

  private constructor(binding: QueueProducer, name: string) {
    this.binding = binding
    this.#name = name
  }

  static readonly batches = new TestQueue(QUEUE_OF_BATCHES, 'batches')
  static readonly dead = new TestQueue(QUEUE_OF_DEAD_BATCHES, 'dead-batches')

  /** Takes messages out until `isAll` holds. */
  async take(isAll: (taken: readonly Taken[]) => boolean): Promise<Taken[]> {
    const taken: Taken[] = []
    for (const began = Date.now(); !isAll(taken); ) {
      expect(Date.now() - began, `came out of the queue: ${JSON.stringify(taken).slice(0, 500)}`).toBeLessThan(
        DELIVERY_MS,
      )
      const response = await QUEUE_SINK.fetch(`http://sink/${this.#name}`)
      taken.push(...((await response.json()) as Taken[]))
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    return taken
  }
}

/** The sum of all increments in messages. */
export function sumOf(taken: readonly Taken[]): bigint {
  const rows = taken.flatMap(({ body }) => body.rows as { add: string }[])
  return rows.reduce((sum, { add }) => sum + BigInt(add), 0n)
}

/** Delivers messages to a Worker. */
export async function deliver({ env }: TestWorker, messages: readonly Taken[]): Promise<QueueResult> {
  const batch = createMessageBatch(
    'batches',
    messages.map((message): MessageBatchMessage => ({ ...message, timestamp: new Date(message.timestamp) })),
  )
  const context = createExecutionContext()
  await worker.queue(batch as Parameters<typeof worker.queue>[0], env)
  return getQueueResult(batch, context)
}
