import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { WorkerClient } from '../../../cli/worker-client.ts'

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
