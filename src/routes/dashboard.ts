import type { Context } from 'hono'
import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { timingSafeEqual } from 'hono/utils/buffer'
import type { AppEnv } from '../app-env.ts'
import type { CounterType } from '../config.ts'
import { SCRIPT, STYLE } from '../dashboard/assets.ts'
import { limitBody } from '../json-body.ts'
import { log } from '../log.ts'
import { Problem } from '../problem.ts'
import { endSession, hasSession, isFromOwnPage, startSession } from '../session.ts'
import { counterPage } from '../views/dashboard/counter.ts'
import { overviewPage } from '../views/dashboard/overview.ts'
import type { Html } from '../views/dashboard/page.ts'
import { signInPage } from '../views/dashboard/sign-in.ts'
import { networkOf } from '../visits/network.ts'

const MAX_FORM_BYTES = 8 * 1024
const MAX_KEY_LENGTH = 4 * 1024

/** Pages of the dashboard: nothing else may follow `next`, so that signing in leads nowhere else. */
const OWN_PATH = /^\/(?:counter)?(?:\?[!-~]*)?$/

/** The dashboard's pages. Their numbers come from the API, which takes the session in place of the token. */
export const dashboard = new Hono<AppEnv>()

const guarded = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    connectSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
  },
  xFrameOptions: 'DENY',
  // With no-referrer, forms would come from the origin "null".
  referrerPolicy: 'same-origin',
  // For the operator of the host to say, about all of it.
  strictTransportSecurity: false,
})

dashboard.get('/', guarded, async (c) => {
  if (!(await hasSession(c))) return signIn(c, 200)
  const wanted = c.req.query('type')
  const types = [...c.var.config.types.values()]
  const type = wanted === undefined ? types[0] : c.var.config.types.get(wanted)
  if (type === undefined) return c.redirect('/')
  return page(c, 200, overviewPage(names(types), type))
})

// The key in the query, because a path cannot have every key in it.
dashboard.get('/counter', guarded, async (c) => {
  if (!(await hasSession(c))) return signIn(c, 200)
  const type = c.var.config.types.get(c.req.query('type') ?? '')
  const key = c.req.query('key')
  if (type === undefined || key === undefined || key.length > MAX_KEY_LENGTH) return c.redirect('/')
  return page(c, 200, counterPage(names(c.var.config.types.values()), type, key, new URL(c.req.url).origin))
})

dashboard.get('/login', (c) => c.redirect('/'))

dashboard.post('/login', guarded, limitBody(MAX_FORM_BYTES), async (c) => {
  checkOwnPage(c)
  const form = new URLSearchParams(await c.req.text())
  const next = form.get('next') ?? '/'
  if (await isLimited(c)) return signIn(c, 429, 'Too many attempts from your address. Try again in a minute.', next)
  if (!(await timingSafeEqual(form.get('token') ?? '', c.var.config.apiToken))) {
    return signIn(c, 401, 'That is not this Worker’s API token.', next)
  }
  await startSession(c)
  return c.redirect(OWN_PATH.test(next) ? next : '/', 303)
})

dashboard.post('/logout', guarded, (c) => {
  checkOwnPage(c)
  endSession(c)
  return c.redirect('/', 303)
})

for (const { path, contentType, text } of [SCRIPT, STYLE]) {
  dashboard.get(path, (c) =>
    c.body(text, 200, {
      'Content-Type': contentType,
      // The path has the text's hash in it.
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
    }),
  )
}

function names(types: Iterable<CounterType>): string[] {
  return [...types].map(({ name }) => name)
}

function signIn(c: Context<AppEnv>, status: 200 | 401 | 429, message?: string, next?: string) {
  const { pathname, search } = new URL(c.req.url)
  const wanted = next ?? pathname + search
  return page(
    c,
    status,
    signInPage({ next: OWN_PATH.test(wanted) ? wanted : '/', ...(message !== undefined && { message }) }),
  )
}

function page(c: Context<AppEnv>, status: 200 | 401 | 429, content: Html) {
  c.header('Cache-Control', 'no-store')
  return c.html(content, status)
}

/** Signing somebody in or out from another site is an attack too. */
function checkOwnPage(c: Context<AppEnv>): void {
  if (isFromOwnPage(c)) return
  throw new Problem('cross_site_request', { detail: 'Use the form on the dashboard, at the path /.' })
}

/** Whether that address has sent too much; without a limit that is bound, or an address, nobody has. */
async function isLimited(c: Context<AppEnv>): Promise<boolean> {
  const address = c.req.header('CF-Connecting-IP')
  const { rateLimit } = c.var.config
  if (rateLimit === null || address === undefined) return false
  try {
    const { success } = await rateLimit.limit({ key: `sign-in ${networkOf(address)}` })
    return !success
  } catch (error) {
    log('warn', 'rate_limit_failed', { error: String(error) })
    return false
  }
}
