import type { HonoApp } from '../http/hono.ts'
import { publicPath } from '../http/url.ts'
import { operation, route } from '../openapi/contract.ts'

export const docsContract = () =>
  operation(route('get', '/docs', 'anyone', { looseQuery: true }), 'Reference', 'docs', {
    summary: 'Get the documentation',
    description:
      'The OpenAPI document as a page, with commands to copy for every operation. It loads nothing from other sites and works without JavaScript.',
    answers: {
      200: { description: 'The page.', contentType: 'text/html', headers: ['Content-Security-Policy'] },
    },
    revalidated: true,
  })

/** The placeholder for the Worker's address in the page, which `npm run build` makes. */
export const ANY_WORKER = 'https://YOUR-WORKER'

/** The documentation: a static asset, in which the Worker replaces the address. */
export const reference = (app: HonoApp) =>
  app.get('/docs', async (c) => {
    const assets = c.env.ASSETS as { fetch(request: Request): Promise<Response> } | undefined
    if (assets === undefined) return c.notFound()
    const known = c.req.header('If-None-Match')
    const headers = known === undefined ? {} : { 'If-None-Match': known }
    // Not the request's host: workerd may refuse it, and files have none.
    const page = await assets.fetch(
      new Request(`http://assets${publicPath(c, c.req.path)}`, { method: c.req.method, headers }),
    )
    const { 'content-length': _, ...kept } = Object.fromEntries(page.headers)
    if (page.status === 304) return c.body(null, 304, kept)
    if (page.status !== 200) return c.notFound()
    return c.body((await page.text()).replaceAll(ANY_WORKER, addressOf(c.req.url)), 200, kept)
  })

/** The Worker's address, for commands to copy. A forged host may contain characters that a shell interprets. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url)
  const address = origin + pathname.replace(/\/docs$/, '')
  return /^https?:\/\/[\w.:[\]-]+(\/[\w.~-]+)*$/.test(address) ? address : ANY_WORKER
}
