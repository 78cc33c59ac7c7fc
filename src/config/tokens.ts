import type { FieldError } from '../schemas.ts'

/** `manage` includes `count` and `read`. */
export const SCOPES = ['count', 'read', 'manage'] as const
export type Scope = (typeof SCOPES)[number]

/** The name of the token `API_TOKEN`. */
export const OWNER = 'owner'

/** People and secret scanners recognize named tokens by it. */
export const PREFIX = 'slotted_'

/** The minimum length of `API_TOKEN`, except on localhost. */
const MIN_LENGTH = 16

const NAME_RULE = `must have up to 32 letters, digits, "_" and "-", and not be "${OWNER}"`
const SCOPE_RULE = `must be ${SCOPES.join(', ')}, or one of them with types, such as read:page_view,download`
const HASH_RULE = 'must be the SHA-256 of a token in 64 hexadecimal digits: `npm run token` makes both'

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

/**
 * Reads `API_TOKENS`: a line `NAME SCOPE[:TYPE,TYPE…] HASH` for each token; # begins a comment. A wrong line is left out. Mistakes
 * never repeat any part of a line: it may be a token.
 * @param isType whether a type is configured
 */
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
    else if (tokens.some((token) => token.name === name)) wrong('.name', 'is the same as on an earlier line')
    if (!SCOPES.includes(scope as Scope)) wrong('.scope', SCOPE_RULE)
    if (!/^[0-9a-f]{64}$/.test(hash)) wrong('.hash', HASH_RULE)
    else if (tokens.some((token) => token.hash === hash)) wrong('.hash', 'is the same as on an earlier line')
    if (mistakes.length === before) tokens.push({ name, scope: scope as Scope, types, hash })
    // It may still do what it may with the types that exist.
    if (types !== null && ![...types].every(isType)) wrong('.types', 'must be configured counter types')
  }
  return tokens
}

/**
 * The problem of an owner's token that can be guessed. On localhost, any token will do.
 * @param url the request's URL
 */
export function shortTokenProblem(apiToken: string, url: string): FieldError | null {
  if (apiToken.length >= MIN_LENGTH) return null
  if (/^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)) return null
  return {
    field: 'API_TOKEN',
    message: `must have at least ${MIN_LENGTH} characters: create one with \`openssl rand -hex 32\` and set it with \`wrangler secret put API_TOKEN\``,
  }
}
