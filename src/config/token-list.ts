import { BoundedMap } from '../bounded-map.ts'
import { isNamedToken, OWNER, type Token } from './tokens.ts'

/** Accepted tokens in one generation of the cache; it holds two generations. */
const MAX_GENERATION = 500

const encoder = new TextEncoder()

/** The tokens that a Worker accepts. Plain data, shared by an isolate's requests. */
export class TokenList {
  readonly #apiToken: string
  readonly #named: readonly Token[]
  #owner: Token | undefined
  /** Only tokens that are right get here, so a stranger cannot fill it. By network: see `findOwner`. */
  readonly #accepted = new BoundedMap<Token>(MAX_GENERATION)

  constructor({ apiToken, tokens }: { apiToken: string; tokens: readonly Token[] }) {
    this.#apiToken = apiToken
    this.#named = tokens
  }

  /** A token that was accepted before, from the same network. */
  accepted(value: string, network: string): Token | undefined {
    return this.#accepted.get(`${network} ${value}`)
  }

  /** The named token with a value. It cannot be guessed, however often one may try. */
  async findNamed(value: string, network: string): Promise<Token | undefined> {
    if (!isNamedToken(value)) return undefined
    const hash = await sha256(value)
    let found: Token | undefined
    for (const token of this.#named) if (isSame(token.hash, hash)) found = token
    return this.#accept(found, value, network)
  }

  /**
   * The owner's token, if that is the value. People may have made it up, so attempts must be limited. The cache is by network,
   * because otherwise a right guess would pass the limit once the owner has been here.
   */
  async findOwner(value: string, network: string): Promise<Token | undefined> {
    const owner = await this.#ownerToken()
    return this.#accept(isSame(owner.hash, await sha256(value)) ? owner : undefined, value, network)
  }

  /** The token with a name. */
  async withName(name: string): Promise<Token | undefined> {
    return name === OWNER ? this.#ownerToken() : this.#named.find((token) => token.name === name)
  }

  async #ownerToken(): Promise<Token> {
    this.#owner ??= { name: OWNER, scope: 'manage', types: null, hash: await sha256(this.#apiToken) }
    return this.#owner
  }

  #accept(token: Token | undefined, value: string, network: string): Token | undefined {
    if (token !== undefined) this.#accepted.set(`${network} ${value}`, token)
    return token
  }
}

/** Compares two hashes in constant time. */
function isSame(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/** SHA-256 in hexadecimal. */
export async function sha256(text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', encoder.encode(text))
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
