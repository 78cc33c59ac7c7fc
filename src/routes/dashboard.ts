import type { Context } from 'hono'
import type { CounterType } from '../config/counter-types.ts'
import { ConfigurationError } from '../config/read-settings.ts'
import { knownTimeZone } from '../counters/history/history-range.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { type Migration, readPending } from '../database/migrations.ts'
import { HIT_REASONS } from '../hit-reasons.ts'
import { ownerTokenProblems, recognize } from '../http/authorization.ts'
import { callerOf } from '../http/caller.ts'
import {
  endSession,
  isFromOwnPage,
  keepVisitorZone,
  sessionToken,
  setMark,
  startSession,
  visitorZone,
} from '../http/cookies.ts'
import type { AppEnv, HonoApp } from '../http/hono.ts'
import { readText } from '../http/json-body.ts'
import { answerTo } from '../http/problem-response.ts'
import { publicPath } from '../http/url.ts'
import { type Isolate, openConfigured } from '../isolate.ts'
import { viewOf } from '../periods.ts'
import { type CounterNumbers, counterNumbers, type TypeNumbers, typeNumbers } from '../service/page-numbers.ts'
import { Problem } from '../service/problem.ts'
import { type StartNumbers, startNumbers } from '../service/start-numbers.ts'
import { includes, type Token } from '../tokens.ts'
import { chartCsv, listCsv } from '../views/csv-files.ts'
import { counterMain } from '../views/dashboard/counter.ts'
import type { Viewer } from '../views/dashboard/layout.ts'
import { FIRST_ROWS, firstRun, overviewMain, ROWS_OF_PAGE } from '../views/dashboard/overview.ts'
import { noCounterPage, noTypePage, setupPage } from '../views/dashboard/plain-pages.ts'
import { startMain } from '../views/dashboard/start.ts'
import { page, pageHeaders, pageOfNumbers, signIn, viewerOf } from '../views/frame.ts'
import { visibleKey } from '../visible-key.ts'

const MAX_FORM_BYTES = 8 * 1024
const MAX_KEY_LENGTH = 4 * 1024
const MAX_SAVED_ROWS = 1_000

/** Pages of the dashboard, without the base path. `next` must be one, so that signing in cannot lead to another site. */
const OWN_PATH = /^\/(?:counter)?(?:\?[!-~]*)?$/

/** The dashboard's pages. Their script fetches them again, and shows what has changed. */
export function dashboard(app: HonoApp): void {
  app.get('/', pageHeaders, async (c) => {
    const viewer = await viewerOf(c)
    const { config, mistakes } = c.get('isolate')
    // There is nothing to see, or the owner cannot sign in.
    if (config.databaseUrl === null || config.types.size === 0) throw new ConfigurationError(mistakes)
    const wrongToken = viewer === null ? ownerTokenProblems(c) : []
    if (wrongToken.length > 0) throw new ConfigurationError(wrongToken)
    const pending = await pendingMigrations(c)
    if (viewer === null) return signIn(c, 200, { notReady: pending.length > 0 })
    if (pending.length > 0) return page(c, setupPage(viewer, pending))
    const { view, csv, ...source } = sourceOf(c)
    const { origin } = new URL(c.req.url)
    const first = (type: CounterType) => ({ viewer, type, origin, refused: refusedHit(c.get('isolate'), type) })
    const wanted = c.req.query('type')
    if (wanted === undefined) {
      const read = () => startNumbers(source.caller, source.asked.tz, source.now, viewer.types)
      const draw = (numbers: StartNumbers) => startMain(viewer, numbers, (type) => firstRun(first(type)))
      return pageOfNumbers(c, viewer, { title: 'Today', type: null }, read, draw)
    }
    const type = viewer.types.find(({ name }) => name === wanted)
    if (type === undefined) return unknownType(c, viewer, wanted)
    const read = () => typeNumbers(source, type, viewer.types)
    if (csv === 'chart') return chartCsv(c, [type.name], (await read()).chart)
    if (csv === 'list') return listCsv(c, type, view.find, await read())
    const draw = (numbers: TypeNumbers) => overviewMain(first(type), view, numbers)
    return pageOfNumbers(c, viewer, { title: type.title, type }, read, draw)
  })

  // The key is in the query, because a path cannot contain every key.
  app.get('/counter', pageHeaders, async (c) => {
    const viewer = await viewerOf(c)
    if (viewer === null) return signIn(c, 200)
    const { type: wanted, key } = c.req.query()
    if (wanted === undefined || key === undefined || key.length > MAX_KEY_LENGTH) {
      return page(c, noCounterPage(viewer), 404)
    }
    const type = viewer.types.find(({ name }) => name === wanted)
    if (type === undefined) return unknownType(c, viewer, wanted)
    const { view, csv, ...source } = sourceOf(c)
    const read = () => counterNumbers(source, { type, key, types: viewer.types })
    if (csv === 'chart') return chartCsv(c, [type.name, key], (await read()).chart)
    const draw = (numbers: CounterNumbers) => counterMain(viewer, type, key, view, numbers)
    return pageOfNumbers(c, viewer, { title: visibleKey(key), type }, read, draw)
  })

  app.get('/login', (c) => c.redirect(publicPath(c, '/'), 302))

  app.post('/login', pageHeaders, async (c) => {
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
      return signIn(c, 403, { message: 'This token has no read access. Use one with the scope read or manage.', next })
    await startSession(c, token)
    keepVisitorZone(c, form.get('zone') ?? '')
    return c.redirect(publicPath(c, next), 303)
  })

  app.post('/logout', pageHeaders, (c) => {
    checkOwnPage(c)
    endSession(c)
    return c.redirect(publicPath(c, '/'), 303)
  })

  app.post('/own-visits', pageHeaders, async (c) => {
    const { form, next } = await readForm(c)
    if ((await sessionToken(c)) === null)
      return signIn(c, 401, { message: 'Sign in first. Nothing was changed.', next })
    setMark(c, form.get('count') === 'no')
    return c.redirect(publicPath(c, next), 303)
  })
}

/** What the address of a page asks for, and how it is read. The script adds the browser's time zone, which a cookie then keeps. */
function sourceOf(c: Context<AppEnv>) {
  const view = viewOf(new URL(c.req.url).search)
  const csv = c.req.query('csv')
  const tz = zoneOf(c.req.query('tz')) ?? zoneOf(visitorZone(c)) ?? 'UTC'
  if (c.req.query('tz') !== undefined) keepVisitorZone(c, tz)
  const [skip, rows] =
    csv === 'list'
      ? [0, MAX_SAVED_ROWS]
      : view.page === 0
        ? [0, FIRST_ROWS]
        : [(view.page - 1) * ROWS_OF_PAGE, ROWS_OF_PAGE]
  return { caller: callerOf(c), asked: { ...view, tz, skip, rows }, now: new Date(), isPublic: false, view, csv }
}

function zoneOf(name = ''): string | undefined {
  try {
    return knownTimeZone(name).name
  } catch {
    return undefined
  }
}

function unknownType(c: Context<AppEnv>, viewer: Viewer, name: string) {
  const isHidden = viewer.configured.some((type) => type.name === name)
  return page(c, noTypePage(viewer, name, isHidden), isHidden ? 403 : 404)
}

/** The latest hit that this isolate ignored, in words. */
function refusedHit({ ignoredHits }: Isolate, { name }: CounterType): string {
  const hit = ignoredHits.get(name)
  if (hit === undefined) return ''
  const { cause, advice } = HIT_REASONS[hit.reason]
  return `A hit${hit.origin === null ? '' : ` from ${hit.origin}`} was not counted. ${cause} ${advice}`
}

async function readForm(c: Context<AppEnv>): Promise<{ form: URLSearchParams; next: string }> {
  checkOwnPage(c)
  const form = new URLSearchParams(await readText(c, MAX_FORM_BYTES))
  const next = form.get('next') ?? ''
  return { form, next: OWN_PATH.test(next) ? next : '/' }
}

/** Another site must not be able to sign a browser in or out. */
function checkOwnPage(c: Context<AppEnv>): void {
  if (isFromOwnPage(c)) return
  throw new Problem('cross_site_request', `Use the form on the dashboard, at the path ${publicPath(c, '/')}.`)
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
