import type { Bindings } from './config/bindings.ts'
import { consume, type Delivery } from './counters/write/queue-consumer.ts'
import { isolateOf, openBackgroundDatabase } from './isolate.ts'
import { log } from './log.ts'

/** Counts the batches that the queue delivers. Logs one line about them, and one for each batch that can never be counted. */
export async function runQueued(bindings: Bindings, deliveries: readonly Delivery[]): Promise<void> {
  const { config } = isolateOf(bindings)
  const context = {
    db: openBackgroundDatabase(config),
    idempotencyHours: config.pruning.idempotencyHours,
    deadLetters: config.deadBatches,
  }
  const { dead, ...counts } = await consume(context, deliveries, new Date())
  for (const letter of dead) log('error', 'batch_dead', { ...letter })
  log(counts.retried > 0 ? 'warn' : 'info', 'queue', { ...counts, dead: dead.length })
}
