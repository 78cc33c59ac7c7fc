import type { Env } from '../../src/env.ts'
import worker from '../../src/index.ts'
import { isolateOf } from '../../src/isolate.ts'
import type { WorkerLoad } from './worker-load.ts'

let begun = 0

/**
 * The Worker as it ships, and two things that cannot be seen or done from outside: `GET /test/load` tells what is going on
 * in its isolate, and a request with the header `Test-Mortal` ends with its client, all its work included. So does every
 * request whose work after the answer takes longer than the platform allows.
 */
export default {
  ...worker,
  fetch(request, env, context) {
    if (request.url.endsWith('/test/load')) {
      const { counting, reads } = isolateOf(env)
      return Response.json({ begun, ...counting.load, reads: reads.exact.load } satisfies WorkerLoad)
    }
    begun++
    const mortal = { waitUntil() {}, passThroughOnException() {}, props: {} } as unknown as ExecutionContext
    return worker.fetch(request, env, request.headers.has('Test-Mortal') ? mortal : context)
  },
} satisfies ExportedHandler<Env>
