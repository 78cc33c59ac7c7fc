import type { Context } from 'hono'
import { cors } from 'hono/cors'
import { isolateOf } from '../isolate.ts'
import type { AppEnv } from './context.ts'

const READING = { allowMethods: ['GET', 'HEAD'], exposeHeaders: ['ETag', 'X-Request-Id'], maxAge: 86_400 }

/** Lets scripts of every site read a response. */
export const readableByAll = cors({ origin: '*', ...READING })

/** Lets scripts of every site read responses about public types, errors and 304 included. For paths with `:type`. */
export const readableIfPublic = cors({
  origin: (_, c: Context<AppEnv>) => {
    // Browsers send a POST without asking whatever a preflight allows, and a preflight that allows everything lets them add the token.
    const asked = c.req.header('Access-Control-Request-Method') ?? 'GET'
    const reads = asked === 'GET' || asked === 'HEAD'
    return reads && isolateOf(c.env).config.types.get(c.req.param('type') ?? '')?.public ? '*' : null
  },
  ...READING,
})
