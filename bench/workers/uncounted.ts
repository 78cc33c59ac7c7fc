// The product's Worker without counting: every request is read, checked and answered as the product does it, after one timer. It
// counts until it is told how long to wait.
import { GroupCommit } from '../../src/counters/write/group-commit.ts'
import worker from '../../src/index.ts'

const { count } = GroupCommit.prototype
let waits = 0
let waitedMs = 0
/** How long each hit waits instead of being counted; `null`: it is counted. */
let waitMs: number | null = null

GroupCommit.prototype.count = async function (...args) {
  if (waitMs !== null) {
    await new Promise((resolve) => setTimeout(resolve, waitMs!))
    return 'counted'
  }
  const began = performance.now()
  const outcome = await count.apply(this, args)
  waits++
  waitedMs += performance.now() - began
  return outcome
}

export default {
  ...worker,
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url)
    if (pathname === '/bench/forget-waits') waits = waitedMs = 0
    else if (pathname === '/bench/only-wait') {
      if (waits === 0) return new Response('No hit was counted.', { status: 409 })
      waitMs = Math.round(waitedMs / waits)
    } else return worker.fetch(request, env, ctx)
    return Response.json(waitMs)
  },
} satisfies ExportedHandler<object>
