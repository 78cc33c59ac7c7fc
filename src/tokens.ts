import { BoundedMap } from './bounded-map.ts'
import { hexOf } from './database/values.ts'
import type { FieldError } from './schemas.ts'
import { isLocalHost } from './visits/network.ts'

/** `manage` includes `count` and `read`. */
export const SCOPES = ['count', 'read', 'manage'] as const
export type Scope = (typeof SCOPES)[number]

/** The name of the token `API_TOKEN`. */
export const OWNER = 'owner'

/** People and secret scanners recognize named tokens by it. */
export const PREFIX = 'slotted_'

const NAME_RULE = `must have up to 32 letters, digits, "_" and "-", and not be "${OWNER}"`
const SCOPE_RULE = `must be ${SCOPES.join(', ')}, or one of them with types, such as read:page_view,download`
const HASH_RULE =
  'must be the SHA-256 hash of a token in 64 hexadecimal digits: `npm run token` (`npx slotted-counter token`) makes both'

/** An API token, without its value. */
export interface Token {
  name: string
  scope: Scope
  /** The types to which the token is limited; `null`: all. */
  types: ReadonlySet<string> | null
  /** SHA-256 of the token, in hexadecimal. */
  hash: string
}

/** Whether a token with one scope may do what needs another. */
export function includes(scope: Scope, needed: Scope): boolean {
  return scope === needed || scope === 'manage'
}

/** Reads lines `NAME SCOPE[:TYPE,TYPE…] HASH`; # begins a comment. Mistakes never repeat any part of a line: it may be a token. */
export function readTokens(text: string, isType: (name: string) => boolean, mistakes: FieldError[]): Token[] {
  const tokens: Token[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const words = line.trim().split(/\s+/)
    const [name = '', limitedScope = '', digits = ''] = words
    if (name === '' || name.startsWith('#')) continue
    const wrong = (field: string, message: string) =>
      mistakes.push({ field: `API_TOKENS.${index + 1}${field}`, message })
    const before = mistakes.length
    if (words.length !== 3) {
      wrong('', 'must be NAME SCOPE HASH, or NAME SCOPE:TYPE,TYPE HASH')
      continue
    }
    const [scope, listed] = limitedScope.split(/:(.*)/)
    const types = listed === undefined ? null : new Set(listed.split(','))
    const hash = digits.toLowerCase()
    if (!/^[\w-]{1,32}$/.test(name) || name === OWNER) wrong('.name', NAME_RULE)
    else if (tokens.some((token) => token.name === name)) wrong('.name', 'is already used on an earlier line')
    if (!SCOPES.includes(scope as Scope)) wrong('.scope', SCOPE_RULE)
    if (!/^[0-9a-f]{64}$/.test(hash)) wrong('.hash', HASH_RULE)
    else if (tokens.some((token) => token.hash === hash)) wrong('.hash', 'is already used on an earlier line')
    if (mistakes.length === before) tokens.push({ name, scope: scope as Scope, types, hash })
    // It may still do what it may with the types that exist.
    if (types !== null && ![...types].every(isType)) wrong('.types', 'must be configured counter types')
  }
  return tokens
}

/** The form of named tokens: 32 random bytes after the prefix. Nobody makes up such a value, so it cannot be guessed. */
const FORM = new RegExp(`^${PREFIX}[\\w-]{43}$`)

/** The minimum length of `API_TOKEN`, except on localhost. */
const MIN_LENGTH = 16

export class TokenList {
  readonly #settings: { apiToken: string | null; tokens: readonly Token[] }
  #owner: Token | undefined
  /** Valid tokens only, so that strangers cannot fill it. */
  readonly #accepted = new BoundedMap<Token>(500)

  constructor(settings: { apiToken: string | null; tokens: readonly Token[] }) {
    this.#settings = settings
  }

  /**
   * The token with a value. Accepted ones are remembered by network: else, once the owner has used theirs, a right guess would pass the
   * limit. @param checkAttempt called before the value is compared with the owner's token, which people may have made up
   */
  async find(value: string, network: string, checkAttempt: () => Promise<void>): Promise<Token | undefined> {
    const id = `${network} ${value}`
    const known = this.#accepted.get(id)
    if (known !== undefined) return known
    const hash = await sha256(value)
    let found: Token | undefined
    if (FORM.test(value)) for (const token of this.#settings.tokens) if (isSame(token.hash, hash)) found = token
    if (found === undefined) {
      await checkAttempt()
      const owner = await this.#ownerToken()
      if (owner !== undefined && isSame(owner.hash, hash)) found = owner
    }
    if (found !== undefined) this.#accepted.set(id, found)
    return found
  }

  async withName(name: string): Promise<Token | undefined> {
    return name === OWNER ? this.#ownerToken() : this.#settings.tokens.find((token) => token.name === name)
  }

  async #ownerToken(): Promise<Token | undefined> {
    const { apiToken } = this.#settings
    if (apiToken === null) return undefined
    this.#owner ??= { name: OWNER, scope: 'manage', types: null, hash: await sha256(apiToken) }
    return this.#owner
  }
}

/** The problem of an owner's token that can be guessed. On localhost, any token will do. @param url the request's URL */
export function shortTokenProblem(apiToken: string, url: string): FieldError | null {
  if (apiToken.length >= MIN_LENGTH || isLocalHost(new URL(url).hostname)) return null
  return {
    field: 'API_TOKEN',
    message: `must have at least ${MIN_LENGTH} characters: create one with \`openssl rand -hex 32\` and set it with \`wrangler secret put API_TOKEN\``,
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
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}
