import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { WorkerClient } from '../../../cli/worker-client.ts'
import { freePort } from '../../../local/processes/free-port.ts'

it('A change keeps its idempotency key when it is sent again. The next one has another', async () => {
  const requests: IncomingMessage[] = []
  const statuses = [500, 200, 200]
  const server = createServer((request, response) => {
    requests.push(request)
    response.writeHead(statuses.shift()!).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const client = new WorkerClient({ url, token: 'x', signal: new AbortController().signal, onRetry: () => {} })
    await client.change('POST', '/a/rename', { to: 'b' })
    await client.change('DELETE', '/a')
  } finally {
    server.closeAllConnections()
    server.close()
  }
  const keys = requests.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toEqual([expect.stringMatching(/.{30}/), keys[0], expect.stringMatching(/.{30}/)])
  expect(keys[2]).not.toBe(keys[0])
})

it('A Worker that is not running is reported at once, with what to check', async () => {
  const retries: string[] = []
  const url = `http://127.0.0.1:${await freePort()}`
  const { signal } = new AbortController()
  const client = new WorkerClient({ url, token: 'x', signal, onRetry: (message) => retries.push(message) })
  await expect(client.get('/v1/status')).rejects.toThrow(`nothing answers at ${url}: is \`npm start\` running`)
  expect(retries).toEqual([])
})

it('Retry-After is obeyed', async () => {
  const times: number[] = []
  const server = createServer((_, response) => {
    times.push(Date.now())
    response.writeHead(times.length === 1 ? 429 : 200, { 'Retry-After': '2' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const retries: string[] = []
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { signal } = new AbortController()
    await new WorkerClient({ url, token: 'x', signal, onRetry: (message) => retries.push(message) }).get('/a')
  } finally {
    server.closeAllConnections()
    server.close()
  }
  expect(retries).toEqual([expect.stringContaining('trying again in 2 s')])
  // Never earlier, however slow the machine is.
  expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(2_000)
})
