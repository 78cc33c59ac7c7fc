/** Stands in a path for a key that is a parameter. No request has it, because no URL decodes to half a character. */
export const KEY_IN_QUERY = '\ud800'

const COUNTER_PATH = /^(\/v1\/counters\/[^/]+)(\/(?:history|rename|merge))?$/
const HAS_KEY = /[?&]key=/

/**
 * The path by which a request is routed. In front of what is done to a counter, its key may be left out and sent as `?key=`: the
 * keys "." and ".." cannot stand in a path, because every client takes them for folders. A `GET` without more in its path lists
 * counters, and reads its keys itself.
 *
 * @param path the path below the base path
 */
export function routedPath({ method, url }: Request, path: string): string {
  if (!path.startsWith('/v1/counters/') || !HAS_KEY.test(url)) return path
  const [, counters, action = ''] = COUNTER_PATH.exec(path) ?? []
  if (counters === undefined || (action === '' && ['GET', 'HEAD', 'OPTIONS'].includes(method))) return path
  return `${counters}/${KEY_IN_QUERY}${action}`
}
