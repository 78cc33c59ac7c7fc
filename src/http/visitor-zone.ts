import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { basePathOf, cookieSuffix } from '../config/base-path.ts'
import type { AppEnv } from './context.ts'

/** Seconds for which browsers keep it. Then a page asks for its numbers once more. */
const LIFETIME = 400 * 86_400
const FORM = /^[A-Za-z][\w+/-]{0,62}$/

/** The time zone of the browser that sent the request, as it told the last time; `undefined` if it never has. */
export function visitorZone(c: Context<AppEnv>): string | undefined {
  const zone = getCookie(c, nameOf(c))
  return zone !== undefined && FORM.test(zone) ? zone : undefined
}

/** Lets the browser that sent the request keep its time zone, so that the next page can come with its numbers. */
export function keepVisitorZone(c: Context<AppEnv>, zone: string): void {
  if (!FORM.test(zone) || zone === visitorZone(c)) return
  const secure = c.req.url.startsWith('https:')
  setCookie(c, nameOf(c), zone, { path: '/', httpOnly: true, sameSite: 'Lax', secure, maxAge: LIFETIME })
}

/** Deletes it. */
export function forgetVisitorZone(c: Context<AppEnv>): void {
  deleteCookie(c, nameOf(c), { path: '/', secure: c.req.url.startsWith('https:') })
}

function nameOf(c: Context<AppEnv>): string {
  return `zone${cookieSuffix(basePathOf(c.env))}`
}
