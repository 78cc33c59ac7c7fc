import type { Context } from 'hono'
import { deleteCookie, getCookie, getSignedCookie, setCookie, setSignedCookie } from 'hono/cookie'
import type { CookieOptions } from 'hono/utils/cookie'
import { basePathOf, cookieSuffix } from '../config/bindings.ts'
import type { Config } from '../config/config.ts'
import type { Token } from '../config/tokens.ts'
import type { AppEnv } from './context.ts'

/** Seconds after which a session ends. */
const SESSION = 12 * 3_600
/** Seconds for which browsers keep the other cookies: the longest time that they allow. */
const LONGEST = 400 * 86_400
const OWN_VISITS = 'own-visits'
const ZONE_FORM = /^[A-Za-z][\w+/-]{0,62}$/

/**
 * Signs in the browser that sent the request: for 12 hours, on this deployment, until the token changes. Nothing is stored: the
 * cookie holds the time at which the session ends and the token's name, signed.
 */
export async function startSession(c: Context<AppEnv>, token: Token): Promise<void> {
  const { name, options } = sessionCookieOf(c)
  const ends = Math.floor(Date.now() / 1_000) + SESSION
  const secret = sessionSecret(c.get('isolate').config, new URL(c.req.url).host, token)
  await setSignedCookie(c, name, `${ends}-${token.name}`, secret, { ...options, maxAge: SESSION })
}

/** Deletes the cookie of the browser that sent the request. */
export function endSession(c: Context<AppEnv>): void {
  const { name, options } = sessionCookieOf(c)
  deleteCookie(c, name, options)
}

/** The token with which the browser that sent the request is signed in; `null` if it is not signed in. */
export async function sessionToken(c: Context<AppEnv>): Promise<Token | null> {
  const { name } = sessionCookieOf(c)
  // Most requests have no cookie, so this comes first.
  if (!c.req.header('Cookie')?.includes(name)) return null
  const { config, tokens } = c.get('isolate')
  const [, ends, tokenName] = /^(\d{1,15})-([\w-]+)\./.exec(getCookie(c, name) ?? '') ?? []
  const token = tokenName === undefined ? undefined : await tokens.withName(tokenName)
  if (token === undefined || Number(ends) * 1_000 <= Date.now()) return null
  const signed = await getSignedCookie(c, sessionSecret(config, new URL(c.req.url).host, token), name)
  return signed === `${ends}-${tokenName}` ? token : null
}

/**
 * Whether a page of this deployment sent the request, and not another site on behalf of the signed-in user. Browsers tell in
 * `Sec-Fetch-Site`, which pages cannot set. Where they do not send it (over plain http to another machine, none does), `Origin`
 * decides.
 */
export function isFromOwnPage(c: Context<AppEnv>): boolean {
  const site = c.req.header('Sec-Fetch-Site')
  if (site !== undefined) return site === 'same-origin'
  return c.req.header('Origin') === new URL(c.req.url).origin
}

/**
 * The secret that signs the cookies of a token. It changes with the token, which ends the token's sessions. It also depends on the
 * database and the host, so that a cookie is worthless on another deployment with the same token. The database's password makes
 * it a secret: the hash of a token is none.
 *
 * @param host host and port of the request
 */
export function sessionSecret(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  host: string,
  { hash }: Pick<Token, 'hash'>,
): string {
  const { username, password, host: server } = new URL(databaseUrl)
  // Joined by line breaks, because no part contains one.
  return ['slotted-counter session', `${username}:${password}@${server}`, host, hash].join('\n')
}

/** The name of the cookie over https. */
export function sessionCookie(base: string): string {
  return `__Host-session${cookieSuffix(base)}`
}

/** Name and attributes of the cookie. */
function sessionCookieOf(c: Context<AppEnv>): { name: string; options: CookieOptions } {
  const { protocol, port } = new URL(c.req.url)
  const secure = protocol === 'https:'
  return {
    // Browsers ignore the port of a cookie, but several instances may run on one machine. Over https, the prefix keeps other
    // hosts of the domain from setting the cookie.
    name: secure ? sessionCookie(basePathOf(c.env)) : `session-${port || '80'}${cookieSuffix(basePathOf(c.env))}`,
    // Lax, so that a link to a counter's page opens signed in. `isFromOwnPage` guards requests that change something.
    options: { path: '/', httpOnly: true, sameSite: 'Lax', secure },
  }
}

/** Whether visits from the browser that sent the request do not count. */
export function isMarked(c: Context<AppEnv>): boolean {
  return getCookie(c, markOf(c).name) === '1'
}

/** Marks the browser that sent the request, so that its visits do not count, or removes the mark. */
export function setMark(c: Context<AppEnv>, marked: boolean): void {
  const { name, options } = markOf(c)
  if (marked) setCookie(c, name, '1', { ...options, maxAge: LONGEST })
  else deleteCookie(c, name, options)
}

/** Name and attributes of the cookie. It is not signed, because anybody may choose not to be counted. */
function markOf(c: Context<AppEnv>): { name: string; options: CookieOptions } {
  const secure = c.req.url.startsWith('https:')
  const name = OWN_VISITS + cookieSuffix(basePathOf(c.env))
  return {
    // Over https, the prefix keeps other hosts of the domain from marking everybody's browser.
    name: secure ? `__Host-${name}` : name,
    // Lax, so that a link to a download sends it.
    options: { path: '/', httpOnly: true, sameSite: 'Lax', secure },
  }
}

/** The time zone of the browser that sent the request, as it told the last time; `undefined` if it never has. */
export function visitorZone(c: Context<AppEnv>): string | undefined {
  const zone = getCookie(c, zoneCookie(c))
  return zone !== undefined && ZONE_FORM.test(zone) ? zone : undefined
}

/** Lets the browser that sent the request keep its time zone, so that the next page can come with its numbers. */
export function keepVisitorZone(c: Context<AppEnv>, zone: string): void {
  if (!ZONE_FORM.test(zone) || zone === visitorZone(c)) return
  const secure = c.req.url.startsWith('https:')
  setCookie(c, zoneCookie(c), zone, { path: '/', httpOnly: true, sameSite: 'Lax', secure, maxAge: LONGEST })
}

/** Deletes it. */
export function forgetVisitorZone(c: Context<AppEnv>): void {
  deleteCookie(c, zoneCookie(c), { path: '/', secure: c.req.url.startsWith('https:') })
}

function zoneCookie(c: Context<AppEnv>): string {
  return `zone${cookieSuffix(basePathOf(c.env))}`
}
