import { isbot } from 'isbot'
import { BoundedMap } from '../bounded-map.ts'

/** Longer user agents are not cached: strangers send them. */
const MAX_LENGTH = 300

/** Crawlers, link previews, monitors. For downloads, every other program is somebody's tool; isbot lists those too: they view no pages. */
const NAMED_BOTS = [
  /(?<! cu)bots?(?:\b|_)|crawl|spider|slurp|scrap[ey]|^google(?! |update|softwareupdate|-cloud|-http|-api)|-google\b|ia_archiver|nutch|xenu|masscan/i,
  /^(?:facebook|meta-external|whatsapp|snapchat|viber|pinterest|tumblr|slack-)|(?:link|uri|url).?preview|iframely|embedly|onebox|mastodon|-scrap\b/i,
  /pingdom|uptime|statuscake|24x7|updown\.io|health.?check|link.?check|checklink|lychee|validator|probe\b|pinger|nodeping|gatus|prometheus|blackbox|zabbix|nagios|icinga|datadog|^[\w-]*monit(?:or|oring)?\b|check_http/i,
]
/** Agents of programs begin with their name. Those of bots that imitate a browser do not, so isbot knows them. */
const IMITATES_BROWSER = /^mozilla\/(?!.*(?:powershell|winhttp|download))/i

/** Proxies that fetch images for a reader, as GitHub and GitLab run: atmos/camo (server.coffee), cactus/go-camo (`--server-name`). */
const IMAGE_PROXIES = /^(?:github-camo|camo asset proxy|go-camo)\b/i

export type Purpose = 'page' | 'download' | 'image'

/** Recognizes bots. Plain data, shared. */
export class Bots {
  /** What isbot says, because a few browsers send nearly all requests. */
  readonly #known = new BoundedMap<boolean>(500)

  /** Whether a user agent is a bot. An empty one is not, because nothing identifies it. */
  has(agent: string, purpose: Purpose = 'page'): boolean {
    if (purpose === 'image' && IMAGE_PROXIES.test(agent)) return false
    if (purpose === 'download' && !IMITATES_BROWSER.test(agent)) return NAMED_BOTS.some((names) => names.test(agent))
    const known = this.#known.get(agent)
    if (known !== undefined) return known
    const found = isbot(agent)
    if (agent.length <= MAX_LENGTH) this.#known.set(agent, found)
    return found
  }
}
