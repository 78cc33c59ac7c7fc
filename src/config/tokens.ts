import { BoundedMap } from '../bounded-map.ts'
import type { FieldError } from '../field-errors.ts'

/** What a token may do. `manage` includes `count` and `read`. */
export const SCOPES = ['count', 'read', 'manage'] as const
export type Scope = (typeof SCOPES)[number]

/** The name of the token `API_TOKEN`. */
export const OWNER = 'owner'

/** The beginning of named tokens, by which people and secret scanners recognise them. */
export const PREFIX = 'slotted_'
/** The form of named tokens. What people make up does not have it, so a value with this form cannot be guessed. */
const FORM = new RegExp(`^${PREFIX}[\\w-]{43}$`)

/** The least length of `API_TOKEN`, except on this machine. */
const MIN_LENGTH = 16

const NAME_RULE = `must have up to 32 letters, digits, "_" and "-", and not be "${OWNER}"`
const SCOPE_RULE = `must be ${SCOPES.join(', ')}, or one of them limited to types, such as read:page_view,download`
const HASH_RULE = 'must be the SHA-256 of a token, in 64 hexadecimal digits: `npm run token` makes both'

/** A token of the API, without the token itself. */
export interface Token {
  name: string
  scope: Scope
  /** The types to which the token is limited; `null`: all. */
  types: ReadonlySet<string> | null
  /** SHA-256 of the token, in hexadecimal. */
  hash: string
}

/** Whether a value has the form of a named token: 32 random bytes behind the prefix. */
export function isNamedToken(value: string): boolean {
  return FORM.test(value)
}

/** Whether a token with one scope may do what needs another. */
export function includes(scope: Scope, needed: Scope): boolean {
  return scope === needed || scope === 'manage'
}

/**
 * Reads `API_TOKENS`: a line `NAME SCOPE[:TYPE,TYPE…] HASH` for each token. Empty lines and lines that begin with # are left out.
 * Problems name the line and what is wrong with it, and never repeat any of it: it may be a token.
 *
 * @param isType whether a type is configured
 */
export function readTokens(
  text: string,
  isType: (name: string) => boolean,
): { tokens: Token[]; problems: FieldError[] } {
  const tokens: Token[] = []
  const problems: FieldError[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const words = line.trim().split(/\s+/)
    const [name = '', limitedScope = '', digits = ''] = words
    if (name === '' || name.startsWith('#')) continue
    const wrong = (field: string, message: string) =>
      problems.push({ field: `API_TOKENS.${index + 1}${field}`, message })
    if (words.length !== 3) {
      wrong('', 'must be NAME SCOPE HASH, or NAME SCOPE:TYPE,TYPE HASH')
      continue
    }
    const [scope, listed] = limitedScope.split(/:(.*)/)
    const types = listed === undefined ? null : new Set(listed.split(','))
    const hash = digits.toLowerCase()
    if (!/^[\w-]{1,32}$/.test(name) || name === OWNER) wrong('.name', NAME_RULE)
    else if (tokens.some((token) => token.name === name)) wrong('.name', 'is the same as in a line before')
    if (!SCOPES.includes(scope as Scope)) wrong('.scope', SCOPE_RULE)
    if (types !== null && ![...types].every(isType)) wrong('.types', 'must be configured counter types')
    if (!/^[0-9a-f]{64}$/.test(hash)) wrong('.hash', HASH_RULE)
    else if (tokens.some((token) => token.hash === hash)) wrong('.hash', 'is the same as in a line before')
    tokens.push({ name, scope: scope as Scope, types, hash })
  }
  return { tokens, problems }
}

/**
 * The problem of an owner's token that can be guessed. On this machine, where nobody else sends requests, any token will do.
 *
 * @param url the request's URL
 */
export function shortTokenProblem(apiToken: string, url: string): FieldError | null {
  if (apiToken.length >= MIN_LENGTH) return null
  if (/^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)) return null
  return {
    field: 'API_TOKEN',
    message: `must have at least ${MIN_LENGTH} characters: make one with \`openssl rand -hex 32\`, and set it with \`wrangler secret put API_TOKEN\``,
  }
}

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
