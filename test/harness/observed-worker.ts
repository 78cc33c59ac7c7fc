import type { Bindings } from '../../src/config/read-settings.ts'
import worker from '../../src/index.ts'
import { isolateOf } from '../../src/isolate.ts'
import { countingLoad, readingLoad, type WorkerLoad } from './worker-load.ts'

let begun = 0

/**
 * The Worker as it ships, with two additions for tests:
 *
 * - `GET /test/load` reports the load of its isolate.
 * - A request with the header `Test-Mortal` ends with all of its work when its client hangs up. On the platform, this happens
 *   to requests whose work after the response takes too long.
 */
export default {
  ...worker,
  fetch(request, env, context) {
    if (request.url.endsWith('/test/load')) {
      const { counting, reads } = isolateOf(env)
      const load: WorkerLoad = {
        begun,
        ...countingLoad(...counting.commits),
        reads: readingLoad(...reads.shared.values()),
      }
      return Response.json(load)
    }
    begun++
    const mortal = { waitUntil() {}, passThroughOnException() {}, props: {} } as unknown as ExecutionContext
    return worker.fetch(request, env, request.headers.has('Test-Mortal') ? mortal : context)
  },
} satisfies ExportedHandler<Bindings>
