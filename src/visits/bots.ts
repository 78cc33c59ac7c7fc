import { isbot } from 'isbot'
import { BoundedMap } from '../bounded-map.ts'

/** User agents in one generation of the cache; it holds two generations. */
const MAX_GENERATION = 500
/** Longer user agents are not cached, so that the cache stays small even if strangers send long ones. */
const MAX_LENGTH = 300

/**
 * Programs that people use for downloads, by the name at the start of their user agent. The isbot list has them, rightly, because
 * they do not view pages.
 */
const DOWNLOADERS =
  /^(?:curl|wget2?|aria2|axel|lftp|httpie|xh|apt|debian apt-http|homebrew|fdm|uget|jdownloader|downthemall|mozilla\/\d.*\b(?:windows)?powershell)\b/i

/**
 * Recognizes automatic clients by their user agent, with the list of the isbot package. It caches the results, because a few
 * browsers send nearly all requests. Plain data, shared by an isolate's requests.
 */
export class Bots {
  readonly #known = new BoundedMap<boolean>(MAX_GENERATION)

  /**
   * Whether a user agent is a bot. An empty one is not, because nothing identifies it.
   *
   * @param downloads whether the request is a download. Then download programs are not bots.
   */
  has(agent: string, { downloads = false }: { downloads?: boolean } = {}): boolean {
    if (downloads && DOWNLOADERS.test(agent)) return false
    const known = this.#known.get(agent)
    if (known !== undefined) return known
    const found = isbot(agent)
    if (agent.length <= MAX_LENGTH) this.#known.set(agent, found)
    return found
  }
}
