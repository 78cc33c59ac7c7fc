import type { Context } from 'hono'
import * as v from 'valibot'
import { type CounterType, windowOf } from '../config/counter-types.ts'
import { pageKey } from '../counters/keys/key-address.ts'
import { HIT_REASONS, type HitReason } from '../hit-reasons.ts'
import { callerOf } from '../http/caller.ts'
import type { AppEnv, HonoApp } from '../http/hono.ts'
import { reported } from '../http/problem-response.ts'
import { readQuery } from '../http/url.ts'
import { visitorOf } from '../http/visitor.ts'
import * as fields from '../openapi/fields.ts'
import type { ParametersOf } from '../service/check-input.ts'
import { checkVisit } from '../service/count-visit.ts'
import { configuredType, counterOfKey } from '../service/named-counters.ts'
import { checkPage } from '../views/dashboard/plain-pages.ts'
import { page, pageHeaders, siteOf } from '../views/frame.ts'
import { isLocalHost } from '../visits/network.ts'

const NO_STORE = { 'Cache-Control': 'no-store' }

const checkQuery = () => ({
  type: v.string(),
  page: v.optional(v.string(), ''),
  automated: v.optional(fields.choice(['0', '1']), '0'),
})

/** Tells anybody whether their hits count: no more than a hit does, at the same rate limit. No contract: it changes with the page. */
export const check = (app: HonoApp) =>
  app
    .get('/check', pageHeaders, (c) => {
      const { type = 'page_view', page: address = '' } = c.req.query()
      return page(c, checkPage(siteOf(c), { type, page: address }))
    })
    .post('/check', async (c) => {
      const asked = readQuery(c.req.url, checkQuery)
      try {
        return c.json(await checkHit(c, asked), 200, NO_STORE)
      } catch (error) {
        return c.json(refused({ cause: reported(c, error).detail }), 200, NO_STORE)
      }
    })

/** Whether a hit would count, and why not, in sentences. Without a page, it checks no origin and key. @throws {Problem | InvalidInput} */
async function checkHit(c: Context<AppEnv>, { type: name, page: typed, automated }: ParametersOf<typeof checkQuery>) {
  const caller = callerOf(c)
  const type = configuredType(caller.isolate, name)
  if (type === undefined) return refused(HIT_REASONS.type)
  const isDownload = type.redirectTo !== null
  const page = isDownload || typed === '' ? null : pageAt(typed)
  if (page === undefined)
    return refused({ cause: 'That is not the address of a page, such as https://example.com/about.' })
  const visitor = visitorOf(c, page?.origin)
  const key = page === null ? null : pageKey(page.pathname)
  const { xHit, type: counted } = await checkVisit(caller, {
    type: page === null ? { ...type, allowedOrigins: ['*'] } : type,
    counter: await counterOfKey(caller.isolate.addresses, type, key ?? '0'),
    visitor,
    purpose: isDownload ? 'download' : 'page',
    automated: automated === '1',
  })
  const reason = /reason=(\w+)/.exec(xHit)?.[1] as HitReason | undefined
  if (reason !== undefined && (reason !== 'key' || key !== null)) {
    return refused(whyNot(reason, visitor.isMarked, page?.origin, key))
  }
  if (page !== null && isLocalHost(page.hostname) && !isLocalHost(new URL(c.req.url).hostname)) {
    return refused({
      cause: 'On localhost, the script of a deployed Worker counts nothing.',
      advice: 'Add the attribute data-local to its tag.',
    })
  }
  return { counts: true, says: [answer(xHit, type, counted), ...notes(type, key)] }
}

function refused({ cause, advice }: { cause: string; advice?: string }) {
  return { counts: false, says: ['No, it does not count.', cause, ...(advice === undefined ? [] : [advice])] }
}

/** Why a hit does not count, and what to do, with the names that apply. */
function whyNot(reason: HitReason, isMarked: boolean, origin: string | undefined, key: string | null) {
  const general = HIT_REASONS[reason]
  if (reason === 'origin') return { ...general, cause: `${origin} is not in SITES or the type’s allowed_origins.` }
  if (reason === 'key') return { ...general, cause: `${general.cause} The key is ${key}.` }
  if (reason !== 'own') return general
  return isMarked
    ? { cause: 'This browser is marked as the owner’s.', advice: 'Count it again in the dashboard.' }
    : {
        cause: 'EXCLUDE.networks lists this network.',
        advice: 'Remove it there and deploy or restart, or use another network.',
      }
}

function answer(xHit: string, type: CounterType, counted: CounterType): string {
  if (xHit === 'queued') return 'Yes, but later: the database is unavailable, so hits wait in the queue.'
  // The name of that type may be private.
  if (counted.name !== type.name) return 'Yes, as a visit by a bot: the user agent belongs to a bot.'
  return 'Yes, it counts.'
}

/** On what else it depends. @param key `null`: it was not checked */
function notes(type: CounterType, key: string | null): string[] {
  const { name, respectDoNotTrack, newKeys } = type
  const setting = `COUNTERS.${name}`
  const window = windowOf(type)
  return [
    key === null && newKeys !== 'any' && `Not every key counts (${setting}.new_keys).`,
    window > 0 && `Each visitor counts once in ${window} seconds (${setting}.dedupe_seconds).`,
    respectDoNotTrack && `Browsers that ask not to be tracked do not count (${setting}.respect_do_not_track).`,
  ].filter((line) => line !== false)
}

/** The page at an address, perhaps without its scheme; `undefined` if it is none. */
function pageAt(typed: string): URL | undefined {
  const text = typed.includes('://') ? typed : `https://${typed}`
  const isWeb = /^https?:\/\/[^/]/i.test(text) && URL.canParse(text)
  return isWeb ? new URL(text) : undefined
}
