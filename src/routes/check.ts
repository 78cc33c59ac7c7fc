import * as z from 'zod/mini'
import { callerOf, visitorOf } from '../http/caller.ts'
import type { AppEnv } from '../http/context.ts'
import { Routes } from '../http/hono.ts'
import { logFailure } from '../http/problem-response.ts'
import { basePathOf, readQuery } from '../http/url.ts'
import { once } from '../service/fields.ts'
import { checkHit, refused } from '../service/hit-check.ts'
import { problemOf } from '../service/problem.ts'
import { checkPage } from '../views/dashboard/check.ts'
import { guarded } from './dashboard.ts'

const NO_STORE = { 'Cache-Control': 'no-store' }

const checkQuery = () => ({
  type: once(z.string()),
  page: once(z._default(z.string(), '')),
  automated: once(z._default(z.enum(['0', '1']), '0')),
})

/**
 * A page with which a browser learns whether its hits count. Anybody may open it: nothing is counted or stored, a check says no
 * more than a hit, and it uses up the same rate limit. It has no contract: it changes with the page.
 */
export const check = new Routes<AppEnv>()
  .get('/check', guarded, (c) => {
    const { type = 'page_view', page = '' } = c.req.query()
    return c.html(checkPage(basePathOf(c.env), c.get('isolate').config.site, { type, page }), 200, NO_STORE)
  })
  .post('/check', async (c) => {
    const { type, page, automated } = readQuery(c, checkQuery)
    try {
      const hit = { type, page, automated: automated === '1', visitor: visitorOf(c) }
      return c.json(await checkHit(callerOf(c), hit), 200, NO_STORE)
    } catch (error) {
      const problem = problemOf(error)
      if (problem.status >= 500) logFailure(c, problem)
      return c.json(refused({ cause: problem.details.detail }), 200, NO_STORE)
    }
  })
