import { serve } from './app.ts'
import type { Env } from './env.ts'
import { isolateOf } from './isolate.ts'
import { log } from './log.ts'
import { runQueued, runScheduled } from './maintenance.ts'

export default {
  fetch: serve,
  async scheduled(controller, env) {
    try {
      const { config, reads } = isolateOf(env)
      const run = runScheduled(config, controller.cron, new Date(controller.scheduledTime))
      await run.finally(() => reads.rolled.forget())
    } catch (error) {
      log('error', 'scheduled_failed', { cron: controller.cron, error: String(error) })
      throw error
    }
  },
  async queue(batch, env) {
    await runQueued(isolateOf(env).config, batch.messages)
  },
} satisfies ExportedHandler<Env>
