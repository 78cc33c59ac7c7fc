import type { Context } from 'hono'
import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { timingSafeEqual } from 'hono/utils/buffer'
import { SCRIPT, STYLE } from '../browser/dashboard/assets.ts'
import type { CounterType } from '../config/counter-types.ts'
import type { AppEnv } from '../http/context.ts'
import { limitBody } from '../http/json-body.ts'
import { isMarked, setMark } from '../http/own-visits.ts'
import { Problem } from '../http/problem.ts'
import { endSession, hasSession, isFromOwnPage, startSession } from '../http/session.ts'
import { isolateOf } from '../isolate.ts'
import { counterPage } from '../views/dashboard/counter.ts'
import type { OwnVisits } from '../views/dashboard/layout.ts'
import { overviewPage } from '../views/dashboard/overview.ts'
import { signInPage } from '../views/dashboard/sign-in.ts'
import type { Html } from '../views/html-type.ts'
import { exceedsLimit } from '../visits/rate-limit.ts'

const MAX_FORM_BYTES = 8 * 1024
const MAX_KEY_LENGTH = 4 * 1024

/** Pages of the dashboard. `next` may name nothing else, so that signing in cannot lead to another site. */
const OWN_PATH = /^\/(?:counter)?(?:\?[!-~]*)?$/

/** The dashboard's pages. Their numbers come from the API, which accepts the session instead of the token. */
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
  // With no-referrer, browsers would send forms with the origin "null".
  referrerPolicy: 'same-origin',
  // It concerns the whole host, so the operator of the host decides.
  strictTransportSecurity: false,
})

dashboard.get('/', guarded, async (c) => {
  if (!(await hasSession(c))) return signIn(c, 200)
  const wanted = c.req.query('type')
  const types = [...isolateOf(c.env).config.types.values()]
  const type = wanted === undefined ? types[0] : isolateOf(c.env).config.types.get(wanted)
  if (type === undefined) return c.redirect('/')
  return page(c, 200, overviewPage(names(types), type, ownVisits(c)))
})

// The key is in the query, because a path cannot contain every key.
dashboard.get('/counter', guarded, async (c) => {
  if (!(await hasSession(c))) return signIn(c, 200)
  const type = isolateOf(c.env).config.types.get(c.req.query('type') ?? '')
  const key = c.req.query('key')
  if (type === undefined || key === undefined || key.length > MAX_KEY_LENGTH) return c.redirect('/')
  const types = names(isolateOf(c.env).config.types.values())
  return page(c, 200, counterPage(types, type, key, new URL(c.req.url).origin, ownVisits(c)))
})

dashboard.get('/login', (c) => c.redirect('/'))

dashboard.post('/login', guarded, limitBody(MAX_FORM_BYTES), async (c) => {
  checkOwnPage(c)
  const form = new URLSearchParams(await c.req.text())
  const next = form.get('next') ?? '/'
  const { rateLimit } = isolateOf(c.env).config
  const address = c.req.header('CF-Connecting-IP') ?? null
  if (await exceedsLimit(rateLimit, address, 'sign-in '))
    return signIn(c, 429, 'Too many attempts from your address. Try again in a minute.', next)
  if (!(await timingSafeEqual(form.get('token') ?? '', isolateOf(c.env).config.apiToken))) {
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

dashboard.post('/own-visits', guarded, limitBody(MAX_FORM_BYTES), async (c) => {
  checkOwnPage(c)
  const form = new URLSearchParams(await c.req.text())
  const next = form.get('next') ?? '/'
  if (!(await hasSession(c))) return signIn(c, 401, 'Sign in first. Nothing was changed.', next)
  setMark(c, form.get('count') === 'no')
  return c.redirect(OWN_PATH.test(next) ? next : '/', 303)
})

for (const { path, contentType, text } of [SCRIPT, STYLE]) {
  dashboard.get(path, (c) =>
    c.body(text, 200, {
      'Content-Type': contentType,
      // The path contains a hash of the text.
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
    }),
  )
}

function ownVisits(c: Context<AppEnv>): OwnVisits {
  const { pathname, search } = new URL(c.req.url)
  return { marked: isMarked(c), next: pathname + search }
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

/** Another site must not be able to sign a browser in or out. */
function checkOwnPage(c: Context<AppEnv>): void {
  if (isFromOwnPage(c)) return
  throw new Problem('cross_site_request', { detail: 'Use the form on the dashboard, at the path /.' })
}
