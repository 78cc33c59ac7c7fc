import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { ConfigurationError } from '../config/read-settings.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { type Migration, readPending } from '../database/migrations.ts'
import { ownerTokenProblems, recognize } from '../http/authorization.ts'
import {
  endSession,
  isFromOwnPage,
  isMarked,
  keepVisitorZone,
  sessionToken,
  setMark,
  startSession,
  visitorZone,
} from '../http/cookies.ts'
import type { AppEnv, HonoApp } from '../http/hono.ts'
import { readText } from '../http/json-body.ts'
import { answerTo, problemResponse } from '../http/problem-response.ts'
import { basePathOf, publicPath } from '../http/url.ts'
import { type Isolate, openConfigured } from '../isolate.ts'
import { Problem } from '../service/problem.ts'
import { includes, type Token } from '../tokens.ts'
import { counterPage } from '../views/dashboard/counter.ts'
import type { Html, Site, Viewer } from '../views/dashboard/layout.ts'
import { overviewPage } from '../views/dashboard/overview.ts'
import {
  noCounterPage,
  noTypePage,
  type SignIn,
  setupPage,
  signInPage,
  troublePage,
} from '../views/dashboard/plain-pages.ts'
import { includedNumbers, typesOf } from './numbers.ts'

const MAX_FORM_BYTES = 8 * 1024
const MAX_KEY_LENGTH = 4 * 1024

/** Pages of the dashboard, without the base path. `next` must be one, so that signing in cannot lead to another site. */
const OWN_PATH = /^\/(?:counter)?(?:\?[!-~]*)?$/

/** The dashboard's pages. Their scripts use `/numbers` and the API with the session. */
export function dashboard(app: HonoApp): void {
  app.get('/', guarded, async (c) => {
    const viewer = await viewerOf(c)
    const { config, mistakes } = c.get('isolate')
    // There is nothing to see, or the owner cannot sign in.
    if (config.databaseUrl === null || config.types.size === 0) throw new ConfigurationError(mistakes)
    const wrongToken = viewer === null ? ownerTokenProblems(c) : []
    if (wrongToken.length > 0) throw new ConfigurationError(wrongToken)
    if (viewer === null) return signIn(c, 200, { notReady: (await pendingMigrations(c)).length > 0 })
    const wanted = c.req.query('type') ?? viewer.types[0]?.name
    const type = viewer.types.find(({ name }) => name === wanted)
    // Started before the tables are known to exist: they nearly always do.
    const numbers = type && includedNumbers(c, { type, types: viewer.types })
    const pending = await pendingMigrations(c)
    if (pending.length > 0) return page(c, 200, setupPage(viewer, pending))
    if (type === undefined || numbers === undefined) return unknownType(c, viewer, wanted ?? '')
    return pageWithNumbers(c, overviewPage(viewer, type, new URL(c.req.url).origin), numbers)
  })

  // The key is in the query, because a path cannot contain every key.
  app.get('/counter', guarded, async (c) => {
    const viewer = await viewerOf(c)
    if (viewer === null) return signIn(c, 200)
    const { type: wanted, key } = c.req.query()
    if (wanted === undefined || key === undefined || key.length > MAX_KEY_LENGTH) {
      return page(c, 404, noCounterPage(viewer))
    }
    const type = viewer.types.find(({ name }) => name === wanted)
    if (type === undefined) return unknownType(c, viewer, wanted)
    const numbers = includedNumbers(c, { type, key, types: viewer.types })
    return pageWithNumbers(c, counterPage(viewer, type, key), numbers)
  })

  app.get('/login', (c) => c.redirect(publicPath(c, '/'), 302))

  app.post('/login', guarded, async (c) => {
    const { form, next } = await readForm(c)
    let token: Token | undefined
    try {
      token = await recognize(c, form.get('token') ?? '')
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'too_many_attempts') throw error
      c.header('Retry-After', answerTo(error).headers['Retry-After'])
      return signIn(c, 429, { message: error.detail, next })
    }
    if (token === undefined) return signIn(c, 401, { message: 'That is not a token of this Worker.', next })
    if (!includes(token.scope, 'read'))
      return signIn(c, 403, { message: 'This token may not read. Use one that may.', next })
    await startSession(c, token)
    keepVisitorZone(c, form.get('zone') ?? '')
    return c.redirect(publicPath(c, next), 303)
  })

  app.post('/logout', guarded, (c) => {
    checkOwnPage(c)
    endSession(c)
    return c.redirect(publicPath(c, '/'), 303)
  })

  app.post('/own-visits', guarded, async (c) => {
    const { form, next } = await readForm(c)
    if ((await sessionToken(c)) === null)
      return signIn(c, 401, { message: 'Sign in first. Nothing was changed.', next })
    setMark(c, form.get('count') === 'no')
    return c.redirect(publicPath(c, next), 303)
  })
}

/** Headers of pages: they load only their own files, and no other site may frame them. */
const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // With no-referrer, browsers send forms with the origin "null".
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

/** Adds the headers of pages. */
export const guarded = createMiddleware<AppEnv>(async (c, next) => {
  await next()
  for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value)
})

function unknownType(c: Context<AppEnv>, viewer: Viewer, name: string) {
  const isHidden = viewer.configured.some((type) => type.name === name)
  return page(c, isHidden ? 403 : 404, noTypePage(viewer, name, isHidden))
}

/** Where the pages of this Worker are. */
export function siteOf(c: Context<AppEnv>): Site {
  // Without settings there is no isolate.
  const isolate = c.get('isolate') as Isolate | undefined
  return { base: basePathOf(c.env), site: isolate?.config.site ?? 'Slotted Counter' }
}

function pageOf(c: Context<AppEnv>): string {
  return c.req.path + new URL(c.req.url).search
}

/** A form of one of our own pages, and the page to show next. */
async function readForm(c: Context<AppEnv>): Promise<{ form: URLSearchParams; next: string }> {
  checkOwnPage(c)
  const form = new URLSearchParams(await readText(c, MAX_FORM_BYTES))
  const next = form.get('next') ?? ''
  return { form, next: OWN_PATH.test(next) ? next : '/' }
}

/** What the signed-in user may see and do; `null` if nobody is signed in. */
export async function viewerOf(c: Context<AppEnv>): Promise<Viewer | null> {
  const token = await sessionToken(c)
  if (token === null || !includes(token.scope, 'read')) return null
  return {
    ...siteOf(c),
    types: typesOf(c, token),
    configured: [...c.get('isolate').config.types.values()],
    ofAllTypes: token.types === null,
    mayChange: includes(token.scope, 'manage'),
    marked: isMarked(c),
    next: pageOf(c),
  }
}

function signIn(c: Context<AppEnv>, status: 200 | 401 | 403 | 429, shown: Partial<SignIn> = {}) {
  const type = c.get('isolate').config.types.get(c.req.query('type') ?? '')
  const about: SignIn = {
    next: pageOf(c),
    ...shown,
    ...siteOf(c),
    // Signing out makes the browser forget its time zone, but not the end of a session.
    ended: c.req.method === 'GET' && visitorZone(c) !== undefined,
    ...(type?.publicPage && { publicType: type }),
  }
  return page(c, status, signInPage(about))
}

export function page(c: Context<AppEnv>, status: 200 | 401 | 403 | 404 | 429, content: Html) {
  c.header('Cache-Control', 'no-store')
  return c.html(content, status)
}

/** Sends a page at once, and its numbers once they are read: a browser starts with the page meanwhile. */
function pageWithNumbers(c: Context<AppEnv>, content: Html, numbers: Promise<string>): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream({
    async start(stream) {
      const text = String(await content)
      const end = text.lastIndexOf('</body>')
      stream.enqueue(encoder.encode(text.slice(0, end)))
      stream.enqueue(encoder.encode((await numbers) + text.slice(end)))
      stream.close()
    },
  })
  return c.body(body, 200, { 'Cache-Control': 'no-store', 'Content-Type': 'text/html; charset=UTF-8' })
}

/** Another site must not be able to sign a browser in or out. */
function checkOwnPage(c: Context<AppEnv>): void {
  if (isFromOwnPage(c)) return
  throw new Problem('cross_site_request', `Use the form on the dashboard, at the path ${publicPath(c, '/')}.`)
}

/** Answers with a problem: a page for people, a problem document for programs. */
export function troubleResponse(c: Context<AppEnv>, problem: Problem): Response | Promise<Response> {
  // Browsers ask for HTML when somebody opens an address. The API answers programs in any case.
  const isForPerson = !c.req.path.startsWith('/v1/') && (c.req.header('Accept') ?? '').includes('text/html')
  if (!isForPerson) return problemResponse(c, problem)
  const { status, headers } = answerTo(problem)
  const page = troublePage(siteOf(c), problem, status >= 500 ? c.get('requestId') : null)
  return c.html(page, status, { ...PAGE_HEADERS, ...headers })
}

/** Milliseconds that a page waits for the database. */
const DEADLINE_MS = 1_000
/** Milliseconds until the next check after a failed one. */
const PAUSE_MS = 10_000

/** When to check again; never, once nothing is pending. */
const checkAgainAt = new WeakMap<Isolate, number>()

/** The migrations that the database lacks. None if it does not respond: see the status. */
async function pendingMigrations(c: Context<AppEnv>): Promise<readonly Migration[]> {
  const isolate = c.get('isolate')
  if (Date.now() < (checkAgainAt.get(isolate) ?? 0)) return []
  try {
    const { pending } = await readPending(openConfigured(isolate, DEADLINE_MS))
    if (pending.length === 0) checkAgainAt.set(isolate, Number.POSITIVE_INFINITY)
    return pending
  } catch (error) {
    if (!(error instanceof DatabaseFailure)) throw error
    checkAgainAt.set(isolate, Date.now() + PAUSE_MS)
    return []
  }
}
