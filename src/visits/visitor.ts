import { contains, type Network, networkOf, parseAddress } from './network.ts'

/**
 * Headers of browsers that load a page in advance: https://wicg.github.io/nav-speculation/prerendering.html (Sec-Purpose), and
 * what Chrome, Safari (Purpose, X-Purpose) and Firefox (X-Moz) sent before it.
 */
const PURPOSE_HEADERS = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz']
const IN_ADVANCE = /\b(?:prefetch|prerender|preview)\b/i

/** Who sent a request, by its headers. Each is read once, and only if needed: reading one costs time on the hot path. */
export class Visitor {
  readonly headers: Headers
  /** Whether its browser is marked as the owner's. */
  readonly marked: boolean
  #address: string | null | undefined
  #agent: string | undefined

  constructor(headers: Headers, marked: boolean) {
    this.headers = headers
    this.marked = marked
  }

  /** Cloudflare sets it, whatever the client sends. Without it, visitors cannot be told apart. */
  get address(): string | null {
    if (this.#address === undefined) this.#address = this.headers.get('CF-Connecting-IP')
    return this.#address
  }

  get agent(): string {
    this.#agent ??= this.headers.get('User-Agent') ?? ''
    return this.#agent
  }

  /** The origin or the URL of the page that sent the request. */
  get page(): string | null {
    return this.headers.get('Origin') ?? this.headers.get('Referer')
  }

  /** The network in which it is one visitor. */
  get network(): string | null {
    return networkOf(this.address ?? '')
  }

  isIn(networks: readonly Network[]): boolean {
    if (networks.length === 0) return false
    const address = parseAddress(this.address ?? '')
    return address !== null && networks.some((network) => contains(network, address))
  }

  /** Whether its browser loads the page in advance. */
  get isInAdvance(): boolean {
    return PURPOSE_HEADERS.some((name) => IN_ADVANCE.test(this.headers.get(name) ?? ''))
  }

  /** Whether its browser asks not to be tracked (DNT, Global Privacy Control). */
  get asksNotToBeTracked(): boolean {
    return this.headers.get('DNT') === '1' || this.headers.get('Sec-GPC') === '1'
  }
}
