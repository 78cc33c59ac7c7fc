import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { CookieOptions } from 'hono/utils/cookie'
import { basePathOf, cookieSuffix } from '../config/base-path.ts'
import { isolateOf } from '../isolate.ts'
import { parseAddress } from '../visits/address.ts'
import { contains } from '../visits/network.ts'
import type { AppEnv } from './context.ts'

const NAME = 'own-visits'
/** Seconds for which browsers keep the mark: the longest time that they allow. */
const LIFETIME = 400 * 86_400

/** Whether a visit is the owner's own: from a marked browser, or from one of the configured networks. */
export function isOwnVisit(c: Context<AppEnv>): boolean {
  if (isMarked(c)) return true
  const { ownNetworks } = isolateOf(c.env).config
  // Checked before the header is read, because reading one costs time on the hot path.
  if (ownNetworks.length === 0) return false
  const address = parseAddress(c.req.header('CF-Connecting-IP') ?? '')
  return address !== null && ownNetworks.some((network) => contains(network, address))
}

/** Whether visits from the browser that sent the request do not count. */
export function isMarked(c: Context<AppEnv>): boolean {
  // Most requests have no cookie, so this comes first.
  if (!c.req.header('Cookie')?.includes(NAME)) return false
  return getCookie(c, markOf(c).name) === '1'
}

/** Marks the browser that sent the request, so that its visits do not count, or removes the mark. */
export function setMark(c: Context<AppEnv>, marked: boolean): void {
  const { name, options } = markOf(c)
  if (marked) setCookie(c, name, '1', { ...options, maxAge: LIFETIME })
  else deleteCookie(c, name, options)
}

/** Name and attributes of the cookie. It is not signed, because anybody may choose not to be counted. */
function markOf(c: Context<AppEnv>): { name: string; options: CookieOptions } {
  const secure = c.req.url.startsWith('https:')
  const name = NAME + cookieSuffix(basePathOf(c.env))
  return {
    // Over https, the prefix keeps other hosts of the domain from marking everybody's browser.
    name: secure ? `__Host-${name}` : name,
    // Lax, so that a link to a download sends it.
    options: { path: '/', httpOnly: true, sameSite: 'Lax', secure },
  }
}
