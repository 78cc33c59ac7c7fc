import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { CounterType } from '../config/counter-types.ts'
import { includes, type Scope, type Token } from '../config/tokens.ts'
import { listedPrefix, spelledPrefix } from '../service/named-counters.ts'
import { Problem } from '../service/problem.ts'
import { subscriberOf } from '../visits/network.ts'
import { exceedsLimit, LONGEST_PERIOD } from '../visits/rate-limit.ts'
import type { AppEnv } from './context.ts'
import { isFromOwnPage, sessionToken } from './cookies.ts'

/** Methods that change nothing, even if another site made the browser send them. */
const SAFE_METHODS = ['GET', 'HEAD']

/**
 * Refuses requests without a token that has a scope.
 *
 * @param limited whether a token that is limited to some types will do: the types are checked later, by `checkTypes`
 */
export const requireToken = (needed: Scope, { limited }: { limited: boolean }) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const { name, types } = await authorize(c, needed)
    if (!limited && types !== null) {
      throw insufficient(needed, `This concerns all types. The token “${name}” is limited to ${listOf(types)}.`)
    }
    await next()
  })

/**
 * Checks that the request has a token with a scope. If it has none, its browser must be signed in to the dashboard. Then only the
 * dashboard's own pages may change anything.
 *
 * @throws {Problem} 401, 403 or 429
 */
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
    if (token === null) throw unauthorized('Send Authorization: Bearer <API_TOKEN>.')
    if (SAFE_METHODS.includes(c.req.method) || isFromOwnPage(c)) return token
    throw new Problem('cross_site_request', {
      detail:
        'Signed in with a cookie, only the dashboard’s own pages may change something. Programs send Authorization: Bearer <API_TOKEN>.',
    })
  }
  const value = /^Bearer +(\S+)$/i.exec(header)?.[1]
  const token = value === undefined ? undefined : await recognize(c, value)
  if (token === undefined) throw unauthorized('This token is not known.', ', error="invalid_token"')
  return token
}

/**
 * The token with a value, if there is one. The attempts of a network at the owner's token are limited.
 *
 * @throws {Problem} 429
 */
export async function recognize(c: Context<AppEnv>, value: string): Promise<Token | undefined> {
  const { tokens, tokenAttempts, config } = c.get('isolate')
  // Cloudflare sets it, whatever the client sends. Without it, networks cannot be told apart.
  const address = c.req.header('CF-Connecting-IP') ?? null
  const network = subscriberOf(address ?? '') ?? ''
  const known = tokens.accepted(value, network) ?? (await tokens.findNamed(value, network))
  if (known !== undefined) return known
  if (network !== '') {
    const wait = tokenAttempts.take(network, Date.now())
    if (wait > 0) throw tooManyAttempts(wait)
    if (await exceedsLimit(config.rateLimit, address, 'token ')) throw tooManyAttempts(LONGEST_PERIOD)
  }
  return tokens.findOwner(value, network)
}

/**
 * Checks the scope of the request's token once more, for a part of a request that needs another one.
 *
 * @throws {Problem} 403
 */
export function checkScope(c: Context<AppEnv>, needed: Scope): void {
  const { name, scope } = c.get('token')!
  if (includes(scope, needed)) return
  throw insufficient(
    needed,
    `This needs a token with the scope ${needed === 'manage' ? '' : `${needed} or `}manage. The token “${name}” has the scope ${scope}.`,
  )
}

/**
 * Checks that the request's token, if it needs one, is for some types.
 *
 * @throws {Problem} 403
 */
export function checkTypes(c: Context<AppEnv>, ...names: readonly string[]): void {
  const token = c.get('token')
  if (token === undefined || token.types === null) return
  const other = names.find((name) => !token.types!.has(name))
  if (other === undefined) return
  throw insufficient(
    token.scope,
    `This needs a token for the type ${other}. The token “${token.name}” is limited to ${listOf(token.types)}.`,
  )
}

function listOf(types: ReadonlySet<string>): string {
  return [...types].join(', ')
}

function insufficient(needed: Scope, detail: string): Problem {
  return new Problem('insufficient_scope', {
    detail,
    headers: { 'WWW-Authenticate': `Bearer realm="slotted-counter", error="insufficient_scope", scope="${needed}"` },
  })
}

function unauthorized(detail: string, error = ''): Problem {
  return new Problem('unauthorized', {
    detail,
    headers: { 'WWW-Authenticate': `Bearer realm="slotted-counter"${error}` },
  })
}

function tooManyAttempts(seconds: number): Problem {
  return new Problem('too_many_attempts', {
    detail: 'Too many unknown tokens came from your network. This one was not checked. Try again later.',
    headers: { 'Retry-After': String(seconds) },
  })
}

/** Whether the request has a token, of any scope. Costs nothing for requests without a token or a cookie. */
export async function isAuthorized(c: Context<AppEnv>): Promise<boolean> {
  if (c.get('token') !== undefined) return true
  if (c.req.header('Authorization') === undefined && c.req.header('Cookie') === undefined) return false
  // A wrong token is one attempt, however often this is asked.
  const known = c.get('isAuthorized')
  if (known !== undefined) return known
  const authorized = await tokenOf(c).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Problem) return false
      throw error
    },
  )
  c.set('isAuthorized', authorized)
  return authorized
}

/**
 * The prefix that a request names, in the spelling that is counted; `null` if it names none. Without a token, it must be one that
 * the type lists.
 *
 * @throws {InvalidInput} of field `prefix`
 * @throws {Problem} 403
 */
export async function askedPrefix(
  c: Context<AppEnv>,
  type: CounterType,
  asked: string | undefined,
): Promise<string | null> {
  const prefix = spelledPrefix(type, asked)
  if (prefix === null || type.prefixes.includes(prefix)) return prefix
  if (!(await isAuthorized(c))) return listedPrefix(type, asked)
  await authorize(c, 'read')
  checkTypes(c, type.name)
  return prefix
}
