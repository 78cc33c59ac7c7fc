import type { Context } from 'hono'
import type { AppEnv } from '../http/context.ts'
import { problemResponse } from '../http/problem-response.ts'
import { basePathOf } from '../http/url.ts'
import type { Problem } from '../service/problem.ts'
import { troublePage } from '../views/dashboard/trouble.ts'
import { PAGE_HEADERS } from './dashboard.ts'

/** Answers with a problem: a page for people, a problem document for programs. */
export function troubleResponse(c: Context<AppEnv>, problem: Problem): Response | Promise<Response> {
  if (!isForPerson(c)) return problemResponse(c, problem)
  // Without settings there is no isolate.
  const site = (c.get('isolate') as AppEnv['Variables']['isolate'] | undefined)?.config.site ?? 'Slotted Counter'
  const page = troublePage(basePathOf(c.env), site, { ...problem.report, requestId: c.get('requestId') })
  return c.html(page, problem.status, { ...PAGE_HEADERS, 'Cache-Control': 'no-store', ...problem.details.headers })
}

/** Browsers ask for HTML when somebody opens an address. The API answers programs in any case. */
function isForPerson(c: Context<AppEnv>): boolean {
  return !c.req.path.startsWith('/v1/') && (c.req.header('Accept') ?? '').includes('text/html')
}
