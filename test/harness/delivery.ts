import { expect } from 'vitest'
import type { QueueProducer } from '../../src/config.ts'
import type { DeadLetter, Delivery } from '../../src/counters/consume.ts'
import { random64 } from '../../src/counters/random.ts'

/** When tests of the queue take place. */
export const NOW = new Date('2026-11-20T12:00:00.000Z')

/** A message as the queue hands it over, and what became of it. */
export class TestDelivery implements Delivery {
  readonly id = `message-${random64()}`
  readonly body: unknown
  timestamp: Date
  attempts: number
  fate: 'acknowledged' | { delaySeconds: number } | null = null

  /** @param body as it was put into the queue; it comes out of it as JSON does */
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

  /** The same message, delivered once more. */
  again(): TestDelivery {
    return new TestDelivery(this.body, { timestamp: this.timestamp, attempts: this.attempts + 1 })
  }
}

/** A dead-letter queue that keeps what it is given; refuses it if it is told to. */
export class DeadLetterQueue implements QueueProducer {
  readonly letters: DeadLetter[] = []
  failing = false

  async send(body: unknown): Promise<void> {
    if (this.failing) throw new Error('refused by the test')
    this.letters.push(JSON.parse(JSON.stringify(body)) as DeadLetter)
  }

  async sendBatch(): Promise<void> {
    throw new Error('dead letters go one by one')
  }
}

/** A queue that keeps the messages that are put into it. */
export class BatchesQueue implements QueueProducer {
  readonly bodies: unknown[] = []

  async send(): Promise<void> {
    throw new Error('batches go together')
  }

  async sendBatch(messages: Iterable<{ body: unknown }>): Promise<void> {
    this.bodies.push(...[...messages].map(({ body }) => body))
  }
}
