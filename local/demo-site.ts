import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import sirv from 'sirv'

const FOLDER = resolve(import.meta.dirname, 'demo')

/** A running demo site. */
export interface DemoSite {
  url: string
  port: number
  stop(): Promise<void>
}

/**
 * Serves the pages of `local/demo/` on 127.0.0.1: an example of a site whose visits are counted.
 *
 * @param counter the origin of the Worker that counts them
 * @param port 0 chooses a free port
 * @throws {Error} with the code `EADDRINUSE` if the port is in use
 */
export async function startDemoSite({ counter, port }: { counter: string; port: number }): Promise<DemoSite> {
  const pages = await renderPages(counter)
  // Not for pages: the files still have a placeholder in place of the counter's origin.
  const files = sirv(FOLDER, { dev: true, extensions: [] })
  const server = createServer((request, response) => {
    const pathname = request.url!.replace(/[?#].*$/s, '')
    // All addresses of the application show one page.
    const page = pages.get(pathname.startsWith('/app/') ? '/app' : pathname)
    const notFound = () => void response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Not found\n')
    if (page !== undefined && (request.method === 'GET' || request.method === 'HEAD')) {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' })
      response.end(request.method === 'HEAD' ? undefined : page)
    } else if (pathname.endsWith('.html')) notFound()
    else files(request, response, notFound)
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const chosen = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${chosen}`,
    port: chosen,
    stop() {
      const closed = new Promise<void>((done) => server.close(() => done()))
      server.closeAllConnections()
      return closed
    },
  }
}

/** The pages by path: `index.html` is `/`, `article.html` is `/article`. */
async function renderPages(counter: string): Promise<Map<string, string>> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.html'))
  const pages = names.map(async (name) => {
    const text = await readFile(join(FOLDER, name), 'utf8')
    const path = name === 'index.html' ? '/' : `/${name.slice(0, -'.html'.length)}`
    return [path, text.replaceAll('{{counter}}', counter)] as const
  })
  return new Map(await Promise.all(pages))
}
