import type { Context } from 'hono'
import * as v from 'valibot'
import { ConfigurationError } from '../config/read-settings.ts'
import { counterId } from '../counters/counter-address.ts'
import { withoutSession } from '../counters/keys/key-address.ts'
import { isLatestName, readLatestFile } from '../counters/latest-files.ts'
import { callerOf, withinTime } from '../http/caller.ts'
import type { AppEnv, HonoApp } from '../http/hono.ts'
import { reportedXHit, tellHit } from '../http/problem-response.ts'
import { limitReading } from '../http/reading.ts'
import { decodeKey, pathType, publicPath, rawPathKey } from '../http/url.ts'
import { visitorOf } from '../http/visitor.ts'
import { DATABASE, described, operation, route, userAgent } from '../openapi/contract.ts'
import { countVisit, type Visit } from '../service/count-visit.ts'
import { counterOfKey } from '../service/named-counters.ts'
import { Problem } from '../service/problem.ts'
import { destinationOf } from '../visits/download.ts'

/** Milliseconds that a download waits for its count. Counting continues without it. */
const MAX_WAIT_MS = 500

export const downloadContract = () =>
  operation(route('get', '/d/{type}/{key}', 'anyone', { looseQuery: true, tellsHit: true }), 'Counting', 'download', {
    summary: 'Count a download and redirect to the file',
    params: { key: described(v.string(), 'The path of the file. Slashes need not be percent-encoded.') },
    description:
      'Counts the download and redirects to the type’s `redirect_to` with the key, or with the file that the key names as the latest (`PUT /v1/latest/…`). These are redirected without being counted: ' +
      'HEAD, ranges that begin after the first byte or have at most two, files that a page embeds as an image or in a player, ' +
      'bots, and repeats by the same visitor within 30 seconds (`dedupe_seconds`). A download waits at most half a second for its count, and is redirected ' +
      'even if counting fails.',
    headers: {
      Range: described(
        v.optional(v.string()),
        'A range that begins after the first byte, or has at most two bytes, is not counted.',
      ),
      ...userAgent('. Here, programs that fetch files, such as curl and npm, are not treated as bots.'),
    },
    answers: { 302: { description: 'A redirect to the file.', headers: ['Location'] } },
    problems: ['not_found', ...DATABASE],
  })

export const downloads = (app: HonoApp) =>
  app.get('/d/:type/*', tellHit, async (c) => {
    const isolate = c.get('isolate')
    const name = c.req.param('type') ?? ''
    const redirectTo = isolate.config.redirects.get(name)
    // A type that has a mistake in the settings still redirects.
    const stopped = isolate.config.stopped.get(name)
    if (redirectTo === undefined) {
      pathType(c)
      throw new Problem('not_found', 'This type has no downloads: its redirect_to is not set.')
    }
    const asked = withoutSession(decodeKey(rawPathKey(c)))
    const path = isLatestName(asked) && stopped === undefined ? await latestFile(c, asked) : asked
    // As it was written: a server may know the file under that spelling alone.
    const destination = destinationOf(redirectTo, path)
    const own = new URL(c.req.url).origin + publicPath(c, '/d/')
    if (destination === null || destination.startsWith(own)) {
      const detail =
        'A download must not lead back to /d or have empty segments, ".", "..", backslashes or control characters.'
      throw new Problem('not_found', detail)
    }
    if (stopped !== undefined) return redirect(destination, reportedXHit(c, new ConfigurationError(stopped)))
    const type = pathType(c)
    const counter = await counterOfKey(isolate.addresses, type, path.normalize())
    const visit: Visit = { type, counter, visitor: visitorOf(c), purpose: 'download' }
    const counting = countVisit(callerOf(c), visit).catch((error: unknown) => reportedXHit(c, error))
    return redirect(destination, await withinTime(c, counting, MAX_WAIT_MS, 'unknown'))
  })

/** The file that a name leads to, or the name itself. If neither is known, the request fails: there may be no file of that name. */
async function latestFile(c: Context<AppEnv>, name: string): Promise<string> {
  await limitReading(c)
  const caller = callerOf(c)
  const counter = await counterOfKey(caller.isolate.addresses, pathType(c), name.normalize())
  const { isolate, waitUntil } = caller
  const options = { keptMs: 30_000, read: () => readLatestFile(caller.db, counter), waitUntil }
  return (await isolate.latestFiles.answer([counterId(counter)], options)).value ?? name
}

function redirect(destination: string, xHit: string): Response {
  return new Response(null, {
    status: 302,
    headers: { Location: destination, 'Cache-Control': 'no-store', 'X-Hit': xHit },
  })
}
