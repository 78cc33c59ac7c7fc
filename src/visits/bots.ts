import { isbot } from 'isbot'
import { Generations } from '../counters/generations.ts'

/** Agents in one generation; two of them are remembered. */
const MAX_GENERATION = 500
/** Longer agents are looked at anew each time, so that what is remembered stays small whatever is sent. */
const MAX_LENGTH = 300

/**
 * Programs with which people download: the list of bots has them, rightly, for they look at no pages. By the name that they
 * send first.
 */
const DOWNLOADERS =
  /^(?:curl|wget2?|aria2|axel|lftp|httpie|xh|apt|debian apt-http|homebrew|fdm|uget|jdownloader|downthemall|mozilla\/\d.*\b(?:windows)?powershell)\b/i

/**
 * Tells automatic clients from people by what they call themselves, with the list that the isbot package keeps. Remembers
 * what it found: a handful of browsers send nearly everything. Plain data, shared by an isolate's requests.
 */
export class Bots {
  readonly #known = new Generations<boolean>(MAX_GENERATION)

  /**
   * Whether an agent is a bot. One that says nothing is not: there is nothing to know it by.
   *
   * @param downloads whether it came to download something; then programs with which people do that are none
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
