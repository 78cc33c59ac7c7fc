import { Hono } from 'hono'
import type { AppEnv } from '../http/context.ts'
import { describe } from '../http/endpoint.ts'
import { publicPath } from '../http/path.ts'
import type { Operation } from '../openapi/contract.ts'

const readReference = {
  id: 'docs',
  tag: 'Reference',
  method: 'get',
  path: '/docs',
  summary: 'Get the documentation',
  description:
    'A page made from the OpenAPI document, with commands to copy for every operation. It loads nothing from other sites, and can be read without JavaScript.',
  access: 'anyone',
  answers: {
    200: { description: 'The page.', contentType: 'text/html', headers: ['Content-Security-Policy'] },
  },
  revalidated: true,
  examples: { page: { summary: 'The page', says: { 'Cache-Control': 'public, max-age=300' } } },
} as const satisfies Operation

/** Stands for the Worker's address in the page, which `npm run build` makes before there is one. */
export const ANY_WORKER = 'https://YOUR-WORKER'

/** The static assets, which have the page and its headers. */
interface Assets {
  fetch(request: Request): Promise<Response>
}

/** The documentation: a static asset, into which the Worker writes its own address. */
export const reference = new Hono<AppEnv>()

reference.get(
  '/docs',
  describe(readReference, async (c) => {
    const assets = c.env.ASSETS as Assets | undefined
    if (assets === undefined) return c.notFound()
    const known = c.req.header('If-None-Match')
    const headers = known === undefined ? {} : { 'If-None-Match': known }
    // Files have no host, and that of the request may be one that workerd refuses.
    const page = await assets.fetch(
      new Request(`http://assets${publicPath(c, c.req.path)}`, { method: c.req.method, headers }),
    )
    const { 'content-length': _, ...kept } = Object.fromEntries(page.headers)
    if (page.status === 304) return c.body(null, 304, kept)
    if (page.status !== 200) return c.notFound()
    return c.body((await page.text()).replaceAll(ANY_WORKER, addressOf(c.req.url)), 200, kept)
  }),
)

/** The Worker's address, for commands to copy. A host header may contain characters that a shell interprets; real hosts do not. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url)
  const address = origin + pathname.replace(/\/docs$/, '')
  return /^https?:\/\/[\w.:[\]-]+(\/[\w.~-]+)*$/.test(address) ? address : ANY_WORKER
}
