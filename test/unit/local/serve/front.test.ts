import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../../../local/processes/free-port.ts'
import { Front } from '../../../../local/serve/front.ts'
import { readServeSettings } from '../../../../local/serve/settings.ts'

/** Starts a front before a server that answers as `listener` says; `null`: there is none. @returns its address, and that of the server */
async function started(listener: http.RequestListener | null) {
  const server = http.createServer({ maxHeaderSize: 65_536 }, listener ?? (() => {}))
  server.maxHeadersCount = 0
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const behind = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const PORT = String(await freePort())
  const settings = readServeSettings({ API_TOKEN: 'a-token-of-the-owner', TRUSTED_PROXIES: '127.0.0.1', PORT })
  const front = new Front(settings, () => (listener === null ? null : behind))
  await front.listen()
  onTestFinished(async () => {
    await front.close(Promise.resolve())
    server.close()
  })
  return { url: `http://127.0.0.1:${PORT}`, server }
}

/** Answers with the visitor's address. */
const address: http.RequestListener = ({ headers }, response) => {
  response.end(headers['cf-connecting-ip'])
}

it("The visitor's address is the last one after a thousand headers", async () => {
  const { url } = await started(address)
  const many = Array.from({ length: 1_500 }, (_, i): [string, string] => [`a${i}`, ''])
  const response = await fetch(url, { headers: [...many, ['X-Forwarded-For', '203.0.113.9']] })
  expect(await response.text()).toBe('203.0.113.9')
})

it('A request without an address, from a web server on this machine, is not of this machine', async () => {
  const { url } = await started(address)
  expect(await (await fetch(url)).text()).toBe('0.0.0.0')
})

it.each([
  ['the Worker is being restarted', null, 'database_unavailable', 'ignored; reason=database_unavailable'],
  ['the Worker ends before its answer', ({ socket }) => socket.destroy(), 'outcome_unknown', 'unknown'],
] as [string, http.RequestListener | null, string, string][])(
  'While %s, the answer says so',
  async (_, worker, code, xHit) => {
    const { url } = await started(worker)
    const response = await fetch(`${url}/hit`, { method: 'POST', body: '{}' })
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ type: `urn:slotted-counter:problem:${code}`, code, status: 503 })
    expect([response.headers.get('X-Hit'), response.headers.get('Retry-After')]).toEqual([xHit, '5'])
  },
)

it('While nothing listens behind it, the answer says that nothing was counted', async () => {
  const { url, server } = await started(address)
  await new Promise((closed) => server.close(closed))
  const response = await fetch(`${url}/hit`, { method: 'POST', body: '{}' })
  expect(response.headers.get('X-Hit')).toBe('ignored; reason=database_unavailable')
})

it('A malformed host is the fault of the client, who need not come back', async () => {
  const { url } = await started(address)
  const sent = http.get(url, { headers: { Host: 'a/b' } })
  const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
  response.resume()
  expect([response.statusCode, response.headers['retry-after']]).toEqual([400, undefined])
})
