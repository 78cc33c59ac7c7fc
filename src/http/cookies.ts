import type { Context } from 'hono'
import { deleteCookie, getCookie, getSignedCookie, setCookie, setSignedCookie } from 'hono/cookie'
import type { CookieOptions } from 'hono/utils/cookie'
import { ConfigurationError } from '../config/read-settings.ts'
import type { Token } from '../tokens.ts'
import type { AppEnv } from './hono.ts'
import { basePathOf } from './url.ts'

/** Seconds after which a session ends. */
const SESSION = 12 * 3_600
/** Seconds for which browsers keep the other cookies: the most that they allow. */
const LONGEST = 400 * 86_400
const ZONE_FORM = /^[A-Za-z][\w+/-]{0,62}$/

/** Signs in the browser for 12 hours, or until the token changes. The cookie holds the end and the token's name, signed. */
export async function startSession(c: Context<AppEnv>, token: Token): Promise<void> {
  const { config, mistakes } = c.get('isolate')
  if (config.databaseUrl === null) throw new ConfigurationError(mistakes)
  const { name, options } = cookieOf(c, 'session')
  const ends = Math.floor(Date.now() / 1_000) + SESSION
  const secret = sessionSecret(config.databaseUrl, new URL(c.req.url).host, token)
  await setSignedCookie(c, name, `${ends}-${token.name}`, secret, { ...options, maxAge: SESSION })
}

/** Signs the browser out, and lets it forget its time zone. */
export function endSession(c: Context<AppEnv>): void {
  write(c, 'session', null)
  write(c, 'zone', null)
}

/** The token with which the browser is signed in; `null` if it is not. */
export async function sessionToken(c: Context<AppEnv>): Promise<Token | null> {
  const { name } = cookieOf(c, 'session')
  // Most requests have no cookie.
  if (!c.req.header('Cookie')?.includes(name)) return null
  const { config, tokens } = c.get('isolate')
  if (config.databaseUrl === null) return null
  const [, ends, tokenName] = /^(\d{1,15})-([\w-]+)\./.exec(getCookie(c, name) ?? '') ?? []
  const token = tokenName === undefined ? undefined : await tokens.withName(tokenName)
  if (token === undefined || Number(ends) * 1_000 <= Date.now()) return null
  const signed = await getSignedCookie(c, sessionSecret(config.databaseUrl, new URL(c.req.url).host, token), name)
  return signed === `${ends}-${tokenName}` ? token : null
}

/** Whether our own page sent the request. Pages cannot set `Sec-Fetch-Site`; plain http may have only `Origin`. */
export function isFromOwnPage(c: Context<AppEnv>): boolean {
  const site = c.req.header('Sec-Fetch-Site')
  if (site !== undefined) return site === 'same-origin'
  return c.req.header('Origin') === new URL(c.req.url).origin
}

/** Signs the cookies of a token. A new token ends its sessions; database and host make a cookie worthless on other deployments. */
export function sessionSecret(databaseUrl: string, host: string, { hash }: Pick<Token, 'hash'>): string {
  const { username, password, host: server } = new URL(databaseUrl)
  // No part contains a line break.
  return ['slotted-counter session', `${username}:${password}@${server}`, host, hash].join('\n')
}

/** The session's cookie over https. The base path tells counters on one host apart; `Path` cannot: `__Host-` needs `/` (RFC 6265bis). */
export function sessionCookie(base: string): string {
  return `__Host-session${base.replaceAll('/', '.')}`
}

type Kind = 'session' | 'own-visits' | 'zone'

/**
 * Name and attributes of a cookie. Over https, the prefix keeps other hosts of the domain from setting it. Over http, several instances
 * may share a machine, and cookies ignore ports. Lax, so that links from other sites send it; `isFromOwnPage` guards changes.
 */
function cookieOf(c: Context<AppEnv>, kind: Kind): { name: string; options: CookieOptions } {
  const { protocol, port } = new URL(c.req.url)
  const secure = protocol === 'https:'
  const local = kind === 'session' ? `session-${port || '80'}` : kind
  const name = sessionCookie(basePathOf(c.env)).replace('__Host-session', secure ? `__Host-${kind}` : local)
  return { name, options: { path: '/', httpOnly: true, sameSite: 'Lax', secure } }
}

function read(c: Context<AppEnv>, kind: Kind): string | undefined {
  return getCookie(c, cookieOf(c, kind).name)
}

/** @param value `null` deletes the cookie */
function write(c: Context<AppEnv>, kind: Kind, value: string | null): void {
  const { name, options } = cookieOf(c, kind)
  if (value === null) deleteCookie(c, name, options)
  else setCookie(c, name, value, { ...options, maxAge: LONGEST })
}

/** Whether the browser's visits do not count. */
export function isMarked(c: Context<AppEnv>): boolean {
  return read(c, 'own-visits') === '1'
}

/** Keeps the browser's visits from being counted, or counts them again. Not signed: anybody may choose not to be counted. */
export function setMark(c: Context<AppEnv>, marked: boolean): void {
  write(c, 'own-visits', marked ? '1' : null)
}

/** The browser's time zone, as it last sent it; `undefined` if it never has. */
export function visitorZone(c: Context<AppEnv>): string | undefined {
  const zone = read(c, 'zone')
  return zone !== undefined && ZONE_FORM.test(zone) ? zone : undefined
}

/** Lets the browser keep its time zone, so that the next page can contain its numbers. */
export function keepVisitorZone(c: Context<AppEnv>, zone: string): void {
  if (ZONE_FORM.test(zone) && zone !== visitorZone(c)) write(c, 'zone', zone)
}
