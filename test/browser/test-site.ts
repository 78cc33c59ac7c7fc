import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { type DemoSite, startDemoSite } from '../../local/demo-site.ts'

export interface Page {
  html: string
  headers?: Record<string, string>
}

/** A site. It stops when the test ends. */
export interface Site {
  port: number
  url: string
}

/** Starts the demo site for a test, in front of a counter. */
export async function startDemo(counter: { url: string }): Promise<DemoSite> {
  const demo = await startDemoSite({ counter: counter.url, port: 0 })
  onTestFinished(() => demo.stop())
  return demo
}

/** Serves pages by path on 127.0.0.1. Other paths are answered 404. */
export function startSite(pages: Record<string, Page>): Promise<Site> {
  return startServer((request, response) => {
    const page = pages[request.url!.replace(/[?#].*$/s, '')]
    if (page === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...page.headers }).end(page.html)
  })
}

export async function startServer(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Site> {
  const server = createServer(answer)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    const closed = new Promise<void>((done) => server.close(() => done()))
    server.closeAllConnections()
    return closed
  })
  return { port, url: `http://127.0.0.1:${port}` }
}

/**
 * Starts a proxy in front of the Worker.
 *
 * @param answered called when the Worker has answered a request; with `drop` the visitor gets no response
 * @param held hits wait for it; a hit is dropped if the visitor disconnects in the meantime
 */
export function startProxy(
  target: string,
  answered: (request: IncomingMessage) => Promise<'drop' | undefined>,
  { held }: { held?: Promise<void> } = {},
): Promise<Site> {
  return startServer(async (request, response) => {
    const { method = 'GET', url = '/', headers } = request
    if (url.startsWith('/hit')) await held
    if (request.socket.destroyed) return
    const kept = new Headers()
    for (const name of ['origin', 'referer', 'user-agent', 'sec-purpose']) {
      if (headers[name] !== undefined) kept.set(name, String(headers[name]))
    }
    const answer = await fetch(target + url, { method, headers: kept })
    const body = new Uint8Array(await answer.arrayBuffer())
    if ((await answered(request)) === 'drop') return void request.socket.destroy()
    const passed = new Headers(answer.headers)
    for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) passed.delete(name)
    response.writeHead(answer.status, [...passed].flat()).end(body)
  })
}
