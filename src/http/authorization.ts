import type { Context } from 'hono'
import type { CounterType } from '../config/counter-types.ts'
import { ConfigurationError, underOwnNames } from '../config/read-settings.ts'
import type { FieldError } from '../schemas.ts'
import { listedPrefix, spelledPrefix } from '../service/named-counters.ts'
import { Problem } from '../service/problem.ts'
import { includes, OWNER, type Scope, shortTokenProblem, type Token } from '../tokens.ts'
import { networkOf } from '../visits/network.ts'
import { exceedsLimit } from '../visits/rate-limit.ts'
import { isFromOwnPage, sessionToken } from './cookies.ts'
import type { AppEnv } from './hono.ts'
import { HttpProblem } from './problem-response.ts'
import { visitorOf } from './visitor.ts'

/** Checks the scope for what concerns all types: the token must not be limited to some. @throws {Problem} 401, 403 or 429 */
export async function authorizeForAll(c: Context<AppEnv>, needed: Scope): Promise<void> {
  const { name, types } = await authorize(c, needed)
  if (types === null) return
  throw insufficient(needed, `This concerns all types. The token “${name}” is limited to ${[...types].join(', ')}.`)
}

/** Checks the scope of the request's token, or of its session. @throws {Problem} 401, 403 or 429 */
export async function authorize(c: Context<AppEnv>, needed: Scope): Promise<Token> {
  const token = await tokenOf(c)
  c.set('token', token)
  checkScope(c, needed)
  return token
}

async function tokenOf(c: Context<AppEnv>): Promise<Token> {
  const header = c.req.header('Authorization')
  if (header === undefined) {
    const token = await sessionToken(c)
    if (token === null) throw challenge('unauthorized', 'Send Authorization: Bearer <API_TOKEN>.')
    if (['GET', 'HEAD'].includes(c.req.method) || isFromOwnPage(c)) return token
    const detail =
      'A session cookie can change things only from the dashboard’s own origin. Programs send Authorization: Bearer <API_TOKEN>.'
    throw new Problem('cross_site_request', detail)
  }
  const value = /^Bearer +(\S+)$/i.exec(header)?.[1]
  const token = value === undefined ? undefined : await recognize(c, value)
  if (token === undefined) throw challenge('unauthorized', 'Unknown token.', ', error="invalid_token"')
  return token
}

/**
 * Finds the token with a value. Limits each network's attempts at the owner's token. @throws {Problem} 429
 * @throws {ConfigurationError} if it is no other token, and the owner's is missing, malformed, or too short
 */
export async function recognize(c: Context<AppEnv>, value: string): Promise<Token | undefined> {
  const { tokens, tokenAttempts, config } = c.get('isolate')
  const { address } = visitorOf(c)
  const network = networkOf(address ?? '', 'subscriber') ?? ''
  const wrong = ownerTokenProblems(c)
  const token = await tokens.find(value, network, async () => {
    if (wrong.length > 0) throw new ConfigurationError(wrong)
    if (network === '') return
    if (tokenAttempts.isExceeded(network, Date.now()) || (await exceedsLimit(config.rateLimit, address, 'token '))) {
      const detail = 'Too many unknown tokens from your network. This one was not checked. Try again in a minute.'
      throw new Problem('too_many_attempts', detail)
    }
  })
  // Also if it was accepted before, perhaps under another host: a page may have rebound its name to this machine.
  if (token?.name === OWNER && wrong.length > 0) throw new ConfigurationError(wrong)
  return token
}

/** Why nobody can use the owner's token: what is wrong with it. */
export function ownerTokenProblems(c: Context<AppEnv>): readonly FieldError[] {
  const { config, mistakes } = c.get('isolate')
  if (config.apiToken === null) return mistakes
  const short = shortTokenProblem(config.apiToken, c.req.url)
  return short === null ? [] : underOwnNames(c.env, [short])
}

/** Checks the scope of an authorized request's token. @throws {Problem} 403 */
export function checkScope(c: Context<AppEnv>, needed: Scope): void {
  const { name, scope } = c.get('token')!
  if (includes(scope, needed)) return
  const scopes = needed === 'manage' ? needed : `${needed} or manage`
  throw insufficient(needed, `This needs a token with the scope ${scopes}. The token “${name}” has the scope ${scope}.`)
}

/** Checks that the request's token, if it has one, covers the types. @throws {Problem} 403 */
export function checkTypes(c: Context<AppEnv>, ...names: readonly string[]): void {
  const token = c.get('token')
  if (!token?.types) return
  const { name, scope, types } = token
  const other = names.find((name) => !types.has(name))
  if (other === undefined) return
  const limits = [...types].join(', ')
  throw insufficient(scope, `This needs a token for the type ${other}. The token “${name}” is limited to ${limits}.`)
}

function insufficient(needed: Scope, detail: string): Problem {
  return challenge('insufficient_scope', detail, `, error="insufficient_scope", scope="${needed}"`)
}

function challenge(code: 'unauthorized' | 'insufficient_scope', detail: string, more = ''): Problem {
  return new HttpProblem(code, detail, { 'WWW-Authenticate': `Bearer realm="slotted-counter"${more}` })
}

/** Whether the request has a valid token of any scope. */
export async function isAuthorized(c: Context<AppEnv>): Promise<boolean> {
  if (c.get('token') !== undefined) return true
  if (c.req.header('Authorization') === undefined && c.req.header('Cookie') === undefined) return false
  // Remembered, so that a wrong token is one attempt.
  const known = c.get('isAuthorized')
  if (known !== undefined) return known
  const authorized = await tokenOf(c).then(
    () => true,
    (error: unknown) => {
      // Public readings do not need one.
      if (error instanceof Problem || error instanceof ConfigurationError) return false
      throw error
    },
  )
  c.set('isAuthorized', authorized)
  return authorized
}

/** `spelledPrefix`; without a token, the type must list it. @throws {InvalidInput} of field `prefix` @throws {Problem} 403 */
export async function askedPrefix(c: Context<AppEnv>, type: CounterType, asked: string | undefined) {
  const prefix = spelledPrefix(type, asked)
  if (prefix === null || type.prefixes.includes(prefix)) return prefix
  if (!(await isAuthorized(c))) return listedPrefix(type, asked)
  await authorize(c, 'read')
  checkTypes(c, type.name)
  return prefix
}
