import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { timingSafeEqual } from 'hono/utils/buffer'
import { isolateOf } from '../isolate.ts'
import type { AppEnv } from './context.ts'
import { Problem } from './problem.ts'
import { hasSession, isFromOwnPage } from './session.ts'

/** Methods that change nothing, even if another site made the browser send them. */
const SAFE_METHODS = ['GET', 'HEAD']

/** Refuses requests that `checkToken` does not accept. */
export const requireToken = createMiddleware<AppEnv>(async (c, next) => {
  await checkToken(c)
  await next()
})

/**
 * Checks that the request has the API token, in constant time. If it has none, its browser must be signed in to the dashboard.
 * Then only the dashboard's own pages may change anything.
 *
 * @throws {Problem} 401 or 403
 */
export async function checkToken(c: Context<AppEnv>): Promise<void> {
  const header = c.req.header('Authorization')
  if (header === undefined && (await hasSession(c))) {
    if (SAFE_METHODS.includes(c.req.method) || isFromOwnPage(c)) return
    throw new Problem('cross_site_request', {
      detail:
        'Signed in with a cookie, only the dashboard’s own pages may change something. Programs send Authorization: Bearer <API_TOKEN>.',
    })
  }
  const token = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1]
  if (token !== undefined && (await timingSafeEqual(token, isolateOf(c.env).config.apiToken))) return
  throw new Problem('unauthorized', {
    detail:
      header === undefined ? 'Send Authorization: Bearer <API_TOKEN>.' : 'The API token is not the configured one.',
    headers: {
      'WWW-Authenticate': `Bearer realm="slotted-counter"${header === undefined ? '' : ', error="invalid_token"'}`,
    },
  })
}

/** Whether the request has what `checkToken` accepts. Costs nothing for requests without a token or a cookie. */
export async function isAuthorized(c: Context<AppEnv>): Promise<boolean> {
  if (c.req.header('Authorization') === undefined && c.req.header('Cookie') === undefined) return false
  try {
    await checkToken(c)
    return true
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}
