import { expect } from 'vitest'
import { random63 } from '../../src/counters/ids.ts'
import type { DeadLetter, Delivery, QueueProducer } from '../../src/counters/write/queue.ts'

/** The time in tests of the queue. */
export const NOW = new Date('2026-11-20T12:00:00.000Z')

/** A message as the queue delivers it, and its fate. */
export class TestDelivery implements Delivery {
  readonly id = `message-${random63()}`
  readonly body: unknown
  timestamp: Date
  attempts: number
  fate: 'acknowledged' | { delaySeconds: number } | null = null

  /** @param body as it was sent to the queue, which stores it as JSON */
  constructor(body: unknown, { timestamp = NOW, attempts = 1 } = {}) {
    this.body = JSON.parse(JSON.stringify(body))
    this.timestamp = timestamp
    this.attempts = attempts
  }

  ack(): void {
    expect(this.fate).toBeNull()
    this.fate = 'acknowledged'
  }

  retry(options: { delaySeconds: number }): void {
    expect(this.fate).toBeNull()
    this.fate = options
  }

  /** The same message, delivered again. */
  again(): TestDelivery {
    return new TestDelivery(this.body, { timestamp: this.timestamp, attempts: this.attempts + 1 })
  }
}

/** A dead-letter queue that keeps its messages, or fails if `failing` is set. */
export class DeadLetterQueue implements QueueProducer {
  readonly letters: DeadLetter[] = []
  failing = false

  async send(body: unknown): Promise<void> {
    if (this.failing) throw new Error('refused by the test')
    this.letters.push(JSON.parse(JSON.stringify(body)) as DeadLetter)
  }

  async sendBatch(): Promise<void> {
    throw new Error('dead letters are sent one by one')
  }
}

/** A queue that keeps its messages. */
export class BatchesQueue implements QueueProducer {
  readonly bodies: unknown[] = []

  async send(): Promise<void> {
    throw new Error('batches are sent together')
  }

  async sendBatch(messages: Iterable<{ body: unknown }>): Promise<void> {
    this.bodies.push(...[...messages].map(({ body }) => body))
  }
}
