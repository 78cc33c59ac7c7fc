import { BoundedMap } from './bounded-map.ts'
import { OWNER, PREFIX, type Token } from './config/tokens.ts'
import { hexOf } from './database/values.ts'

/** The form of named tokens: 32 random bytes after the prefix. Nobody makes up such a value, so it cannot be guessed. */
const FORM = new RegExp(`^${PREFIX}[\\w-]{43}$`)

/** Accepted tokens in one generation of the cache; it holds two generations. */
const MAX_GENERATION = 500

const encoder = new TextEncoder()

/** The tokens that a Worker accepts. */
export class TokenList {
  readonly #apiToken: string | null
  readonly #named: readonly Token[]
  #owner: Token | undefined
  /** Valid tokens only, so that strangers cannot fill it. By network: see `findOwner`. */
  readonly #accepted = new BoundedMap<Token>(MAX_GENERATION)

  constructor({ apiToken, tokens }: { apiToken: string | null; tokens: readonly Token[] }) {
    this.#apiToken = apiToken
    this.#named = tokens
  }

  /** A token that was accepted from the same network before. */
  accepted(value: string, network: string): Token | undefined {
    return this.#accepted.get(`${network} ${value}`)
  }

  /** A named token. It cannot be guessed, so attempts need no limit. */
  async findNamed(value: string, network: string): Promise<Token | undefined> {
    if (!FORM.test(value)) return undefined
    const hash = await sha256(value)
    let found: Token | undefined
    for (const token of this.#named) if (isSame(token.hash, hash)) found = token
    return this.#accept(found, value, network)
  }

  /**
   * The owner's token. People may have made it up, so attempts must be limited. The cache is by network: otherwise, once the owner
   * has used it, a right guess would pass the limit.
   */
  async findOwner(value: string, network: string): Promise<Token | undefined> {
    const owner = await this.#ownerToken()
    const isOwner = owner !== undefined && isSame(owner.hash, await sha256(value))
    return this.#accept(isOwner ? owner : undefined, value, network)
  }

  async withName(name: string): Promise<Token | undefined> {
    return name === OWNER ? this.#ownerToken() : this.#named.find((token) => token.name === name)
  }

  async #ownerToken(): Promise<Token | undefined> {
    if (this.#apiToken === null) return undefined
    this.#owner ??= { name: OWNER, scope: 'manage', types: null, hash: await sha256(this.#apiToken) }
    return this.#owner
  }

  #accept(token: Token | undefined, value: string, network: string): Token | undefined {
    if (token !== undefined) this.#accepted.set(`${network} ${value}`, token)
    return token
  }
}

/** In constant time. */
function isSame(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/** In hexadecimal. */
export async function sha256(text: string): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text))))
}
