import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { timingSafeEqual } from 'hono/utils/buffer'
import type { AppEnv } from './app-env.ts'
import { Problem } from './problem.ts'

/** Lets only requests with `Authorization: Bearer <API_TOKEN>` through. */
export const requireToken = createMiddleware<AppEnv>(async (c, next) => {
  await checkToken(c)
  await next()
})

/**
 * Checks the request's token, in a time that does not depend on how much of it is right.
 *
 * @throws {Problem} 401
 */
export async function checkToken(c: Context<AppEnv>): Promise<void> {
  const header = c.req.header('Authorization')
  const token = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1]
  if (token !== undefined && (await timingSafeEqual(token, c.var.config.apiToken))) return
  throw new Problem('unauthorized', {
    detail:
      header === undefined ? 'Send Authorization: Bearer <API_TOKEN>.' : 'The API token is not the configured one.',
    headers: {
      'WWW-Authenticate': `Bearer realm="slotted-counter"${header === undefined ? '' : ', error="invalid_token"'}`,
    },
  })
}
