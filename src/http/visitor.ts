import type { Context } from 'hono'
import type { Visitor } from '../service/count-visit.ts'
import { asksForPart } from '../visits/download.ts'
import { isMarked } from './cookies.ts'
import type { AppEnv } from './hono.ts'

/** Browsers say in them that nobody sees the page yet: https://wicg.github.io/nav-speculation/prerendering.html, and older forms. */
const PURPOSE_HEADERS = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz']
const IN_ADVANCE = /\b(?:prefetch|prerender|preview)\b/i

/** What is fetched by following a link, or by a script. All else a page loads by itself, for each of its visitors. */
const WANTED = ['document', 'empty']

/** Who sent a request, by its headers. They are read when they are needed. */
class SenderOf implements Visitor {
  readonly address: string | null
  readonly agent: string
  readonly isMarked: boolean
  readonly isHead: boolean
  readonly #headers: Headers
  readonly #origin: string | undefined

  constructor(c: Context<AppEnv>, origin?: string) {
    const { headers, method } = c.req.raw
    this.#headers = headers
    this.#origin = origin
    // Cloudflare overwrites what the client sends.
    this.address = headers.get('CF-Connecting-IP')
    this.agent = headers.get('User-Agent') ?? ''
    // Most requests have no cookie.
    this.isMarked = headers.has('Cookie') && isMarked(c)
    // Hono calls the handler of GET for HEAD too.
    this.isHead = method === 'HEAD'
  }

  get origin(): string | null {
    const page = this.#origin ?? this.#headers.get('Origin') ?? this.#headers.get('Referer')
    return page !== null && URL.canParse(page) ? new URL(page).origin : null
  }

  get isEarly(): boolean {
    for (const name of PURPOSE_HEADERS) if (IN_ADVANCE.test(this.#headers.get(name) ?? '')) return true
    return false
  }

  get refusesTracking(): boolean {
    return this.#headers.get('DNT') === '1' || this.#headers.get('Sec-GPC') === '1'
  }

  get isEmbedding(): boolean {
    return !WANTED.includes(this.#headers.get('Sec-Fetch-Dest') ?? 'empty')
  }

  get wantsPart(): boolean {
    return asksForPart(this.#headers.get('Range') ?? undefined)
  }
}

/** Who sent the request. @param origin that of the page which would send it, instead of its own */
export function visitorOf(c: Context<AppEnv>, origin?: string): Visitor {
  return new SenderOf(c, origin)
}
