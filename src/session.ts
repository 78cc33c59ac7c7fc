import type { Context } from 'hono'
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie'
import type { CookieOptions } from 'hono/utils/cookie'
import type { AppEnv } from './app-env.ts'
import type { Config } from './config.ts'

/** Seconds after which one has to sign in again. */
const LIFETIME = 12 * 3_600

/**
 * Signs the browser in that sent the request: for 12 hours, on this deployment, as long as the token stays the same.
 *
 * Nothing is stored. The cookie holds the time at which it ends, signed.
 */
export async function startSession(c: Context<AppEnv>): Promise<void> {
  const { name, options } = cookieOf(c)
  const ends = Math.floor(Date.now() / 1_000) + LIFETIME
  await setSignedCookie(c, name, String(ends), sessionSecret(c.var.config, new URL(c.req.url).host), {
    ...options,
    maxAge: LIFETIME,
  })
}

/** Takes the cookie from the browser that sent the request. */
export function endSession(c: Context<AppEnv>): void {
  const { name, options } = cookieOf(c)
  deleteCookie(c, name, options)
}

/** Whether the request comes from a browser that is signed in here, and still is. */
export async function hasSession(c: Context<AppEnv>): Promise<boolean> {
  const { name } = cookieOf(c)
  // Without looking further: most requests have no cookie.
  if (!c.req.header('Cookie')?.includes(name)) return false
  const ends = await getSignedCookie(c, sessionSecret(c.var.config, new URL(c.req.url).host), name)
  return typeof ends === 'string' && /^\d{1,15}$/.test(ends) && Number(ends) * 1_000 > Date.now()
}

/**
 * Whether a page of this deployment sent the request, rather than another site's in the name of who is signed in. Browsers say
 * so in `Sec-Fetch-Site`, which no page can set; those that do not send it, as none does over plain http to another machine, send `Origin`.
 */
export function isFromOwnPage(c: Context<AppEnv>): boolean {
  const site = c.req.header('Sec-Fetch-Site')
  if (site !== undefined) return site === 'same-origin'
  return c.req.header('Origin') === new URL(c.req.url).origin
}

/**
 * What cookies are signed with. It changes with the token, which ends all sessions; and with the database and the host, so
 * that a cookie of one deployment is worth nothing on another one that has the same token.
 *
 * @param host host and port that the request was sent to
 */
export function sessionSecret({ apiToken, databaseUrl }: Config, host: string): string {
  const database = new URL(databaseUrl)
  // Lines, because none of them has a line break in it.
  return ['slotted-counter session', `${database.username}@${database.host}`, host, apiToken].join('\n')
}

/** What the cookie is called, and which requests it goes with. */
function cookieOf(c: Context<AppEnv>): { name: string; options: CookieOptions } {
  const { protocol, port } = new URL(c.req.url)
  const secure = protocol === 'https:'
  return {
    // Cookies know no ports, but several instances may run on one machine. Over https the prefix keeps other hosts of the same
    // domain from setting it.
    name: secure ? '__Host-session' : `session-${port || '80'}`,
    // Lax, so that who follows a link to a counter's page is still signed in; what changes something is guarded by
    // `isFromOwnPage` as well.
    options: { path: '/', httpOnly: true, sameSite: 'Lax', secure },
  }
}
