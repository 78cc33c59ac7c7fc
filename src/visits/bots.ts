import { isbot } from 'isbot'
import { BoundedMap } from '../bounded-map.ts'

/** User agents in one generation of the cache; it holds two. */
const MAX_GENERATION = 500
/** Longer user agents are not cached: strangers send them. */
const MAX_LENGTH = 300

/** Programs that people use for downloads, by the start of their user agent. isbot lists them because they view no pages. */
const DOWNLOADERS =
  /^(?:curl|wget2?|aria2|axel|lftp|httpie|xh|apt|debian apt-http|homebrew|fdm|uget|jdownloader|downthemall|mozilla\/\d.*\b(?:windows)?powershell)\b/i

/**
 * Proxies that fetch the images of a README or a profile for a reader: GitHub's, and what GitLab and others run. Names from
 * atmos/camo (server.coffee), GitHub's own, and cactus/go-camo (`--server-name`).
 */
const IMAGE_PROXIES = /^(?:github-camo|camo asset proxy|go-camo)\b/i

export type Purpose = 'page' | 'download' | 'image'

/** Programs that people use for a purpose: not bots then. */
const USED_BY_PEOPLE: Record<Purpose, RegExp | null> = { page: null, download: DOWNLOADERS, image: IMAGE_PROXIES }

/** Recognizes bots with the list of isbot. Cached, because a few browsers send nearly all requests. Plain data, shared. */
export class Bots {
  readonly #known = new BoundedMap<boolean>(MAX_GENERATION)

  /** Whether a user agent is a bot. An empty one is not, because nothing identifies it. */
  has(agent: string, purpose: Purpose = 'page'): boolean {
    if (USED_BY_PEOPLE[purpose]?.test(agent)) return false
    const known = this.#known.get(agent)
    if (known !== undefined) return known
    const found = isbot(agent)
    if (agent.length <= MAX_LENGTH) this.#known.set(agent, found)
    return found
  }
}
