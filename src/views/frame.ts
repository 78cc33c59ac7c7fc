/* What all pages have in common: their headers, who sees them, signing in, and what they say of a problem. */
import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { CounterType } from '../config/counter-types.ts'
import { callerOf } from '../http/caller.ts'
import { isMarked, sessionToken, visitorZone } from '../http/cookies.ts'
import type { AppEnv } from '../http/hono.ts'
import { answerTo, problemResponse, reported } from '../http/problem-response.ts'
import { basePathOf } from '../http/url.ts'
import type { Isolate } from '../isolate.ts'
import { viewOf, viewQuery } from '../periods.ts'
import type { Problem } from '../service/problem.ts'
import { readForAll } from '../service/read.ts'
import { readStatus } from '../service/status.ts'
import { includes } from '../tokens.ts'
import { bodyOf, type Html, headOf, type Site, signedIn, type Viewer } from './dashboard/layout.ts'
import { type SignIn, signInPage, troubleMain, troublePage } from './dashboard/plain-pages.ts'
import { clockOf } from './english.ts'

/** Milliseconds for which all pages show the same problems. */
const STATUS_KEPT_MS = 60_000

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
export const pageHeaders = createMiddleware<AppEnv>(async (c, next) => {
  await next()
  for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value)
})

/** Where the pages of this Worker are. */
export function siteOf(c: Context<AppEnv>): Site {
  // Without settings there is no isolate.
  const isolate = c.get('isolate') as Isolate | undefined
  return { base: basePathOf(c.env), site: isolate?.config.site ?? 'Slotted Counter' }
}

/** The address of a page below the base path, without the time zone that the script adds at its end. */
function pathOf(c: Context<AppEnv>): string {
  return c.req.path + new URL(c.req.url).search.replace(/[?&]tz=[^&]*$/, '')
}

/** What the signed-in user may see and do; `null` if nobody is signed in. */
export async function viewerOf(c: Context<AppEnv>): Promise<Viewer | null> {
  const token = await sessionToken(c)
  if (token === null || !includes(token.scope, 'read')) return null
  const { find, by, sort, show, page, share, of, ...period } = viewQuery(viewOf(new URL(c.req.url).search))
  const configured = [...c.get('isolate').config.types.values()]
  return {
    ...siteOf(c),
    types: configured.filter(({ name }) => token.types?.has(name) ?? true),
    configured,
    ofAllTypes: token.types === null,
    mayChange: includes(token.scope, 'manage'),
    marked: isMarked(c),
    next: pathOf(c),
    period,
  }
}

/** Asks for a token. */
export function signIn(c: Context<AppEnv>, status: 200 | 401 | 403 | 429, shown: Partial<SignIn> = {}) {
  const type = c.get('isolate').config.types.get(c.req.query('type') ?? '')
  const about: SignIn = {
    next: pathOf(c),
    ...shown,
    ...siteOf(c),
    // Signing out makes the browser forget its time zone, but not the end of a session.
    ended: c.req.method === 'GET' && visitorZone(c) !== undefined,
    ...(type?.publicPage && { publicType: type }),
  }
  return page(c, signInPage(about), status)
}

/** Answers with a page, which is not cached unless `headers` say otherwise. */
export function page(
  c: Context<AppEnv>,
  shown: Html,
  status: ContentfulStatusCode = 200,
  headers: Record<string, string> = {},
): Response | Promise<Response> {
  return c.html(shown, status, { 'Cache-Control': 'no-store', ...headers })
}

/** Answers with a page of numbers, its head at once: the browser loads its files meanwhile. `type`: `null` for the page to begin with */
export function pageOfNumbers<Numbers extends { asOf: string }>(
  c: Context<AppEnv>,
  viewer: Viewer,
  { title, type }: { title: string; type: CounterType | null },
  read: () => Promise<Numbers>,
  draw: (numbers: Numbers) => Html,
): Response {
  const encoder = new TextEncoder()
  const failed = (error: unknown) => {
    const problem = reported(c, error)
    return { main: troubleMain(viewer, problem, loggedId(c, problem)), asOf: null }
  }
  const drawn = read().then((numbers) => ({ main: draw(numbers), asOf: numbers.asOf }))
  const made = Promise.all([drawn.catch(failed), viewer.ofAllTypes ? readProblems(c) : []])
  const stream = new ReadableStream({
    async start(stream) {
      stream.enqueue(encoder.encode(String(await headOf(title, viewer))))
      const [{ main, asOf }, problems] = await made
      const body = signedIn(viewer, type?.name ?? null, main, { asOf: asOf && clockOf(asOf), problems })
      stream.enqueue(encoder.encode(String(await bodyOf(body))))
      stream.close()
    },
  })
  return c.body(stream, 200, { 'Cache-Control': 'no-store', 'Content-Type': 'text/html; charset=UTF-8' })
}

/** What the status says is wrong. None if it cannot be read: then the page has no numbers either. */
async function readProblems(c: Context<AppEnv>): Promise<string[]> {
  const caller = callerOf(c)
  const read = () => readStatus(caller.isolate, new Date(), c.get('requestId'))
  const status = await readForAll(caller, ['status'], STATUS_KEPT_MS, read).catch(() => null)
  return status?.value.problems.map(({ detail }) => detail) ?? []
}

/** The id under which a problem was logged; `null`: it was not. */
const loggedId = (c: Context<AppEnv>, problem: Problem) => (answerTo(problem).status >= 500 ? c.get('requestId') : null)

/** Answers with a problem: a page for people, a problem document for programs. */
export function troubleResponse(c: Context<AppEnv>, problem: Problem): Response | Promise<Response> {
  // Browsers ask for HTML when somebody opens an address. The API answers programs in any case.
  const isForPerson = !c.req.path.startsWith('/v1/') && (c.req.header('Accept') ?? '').includes('text/html')
  if (!isForPerson) return problemResponse(c, problem)
  const { status, headers } = answerTo(problem)
  const shown = troublePage(siteOf(c), problem, loggedId(c, problem))
  return page(c, shown, status, { ...PAGE_HEADERS, ...headers })
}
