import { createSlottedCounter } from './slotted-counter.ts'

// With the settings of wrangler.toml.
const counter = createSlottedCounter()

/** For the service bindings of other Workers. */
export class Counter extends counter.Entrypoint {}

export default {
  fetch: counter.fetch,
  scheduled: counter.scheduled,
  queue: counter.queue,
} satisfies ExportedHandler<object>
