import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { type DemoSite, startDemoSite } from '../../local/demo-site.ts'

export async function startDemo(counter: { url: string }): Promise<DemoSite> {
  const demo = await startDemoSite({ counter: counter.url, port: 0 })
  onTestFinished(() => demo.stop())
  return demo
}

export const startSite = (pages: Record<string, string>) =>
  startServer(({ url = '' }, response) => {
    const html = pages[url.replace(/[?].*$/s, '')]
    response.writeHead(html ? 200 : 404, { 'Content-Type': 'text/html; charset=utf-8' }).end(html)
  })

/** Starts a server on 127.0.0.1 that stops when the test ends. */
export async function startServer(answer: (request: IncomingMessage, response: ServerResponse) => void) {
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
