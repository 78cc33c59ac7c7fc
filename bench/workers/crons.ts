// The product's Worker, whose cron triggers requests can set off.
import worker from '../../src/index.ts'

export default {
  async fetch(request, env, ctx) {
    const cron = new URL(request.url).searchParams.get('bench-cron')
    if (cron === null) return worker.fetch(request, env, ctx)
    await worker.scheduled({ cron, scheduledTime: Date.now() }, env)
    return new Response(null, { status: 204 })
  },
} satisfies ExportedHandler<object>
