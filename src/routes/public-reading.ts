import type { Context } from 'hono'
import { cors } from 'hono/cors'
import type { AppEnv } from '../app-env.ts'
import { checkToken } from '../authorization.ts'
import type { CounterType } from '../config.ts'

/** Public counts are for other sites' scripts too, errors and unchanged answers included. For paths that name a `:type`. */
export const shared = cors({
  origin: (_, c: Context<AppEnv>) => {
    // Browsers take POST for harmless whatever a preflight allows, and a preflight that allows everything lets the token go with it.
    const asked = c.req.header('Access-Control-Request-Method') ?? 'GET'
    const reads = asked === 'GET' || asked === 'HEAD'
    return reads && c.var.config.types.get(c.req.param('type') ?? '')?.public ? '*' : null
  },
  allowMethods: ['GET', 'HEAD'],
  exposeHeaders: ['ETag', 'X-Request-Id'],
  maxAge: 86_400,
})

/**
 * Lets everybody read what is public, and those with the token the rest.
 *
 * @throws {Problem} 401
 */
export async function mayRead(c: Context<AppEnv>, type: CounterType): Promise<void> {
  if (!type.public) await checkToken(c)
}
