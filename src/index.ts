import { serve } from './app.ts'
import type { Bindings } from './config/bindings.ts'
import { runQueued } from './queue.ts'
import { runScheduled } from './scheduled.ts'

export default {
  fetch: serve,
  scheduled: ({ cron, scheduledTime }, bindings) => runScheduled(bindings, cron, new Date(scheduledTime)),
  queue: ({ messages }, bindings) => runQueued(bindings, messages),
} satisfies ExportedHandler<Bindings>
