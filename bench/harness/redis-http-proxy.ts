// Serves Redis over HTTP, as the local PlanetScale endpoint serves a database. Exits with its parent.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@redis/client'

const redis = createClient({
  url: process.env.REDIS_URL!,
  // While Redis is down, commands fail at once instead of queuing.
  disableOfflineQueue: true,
  socket: { reconnectStrategy: 50 },
})
redis.on('error', () => {})
await redis.connect()

const server = createServer(async (request, response) => {
  try {
    // Fails if the Worker is killed meanwhile.
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    if (request.method === 'GET') return void response.end(String(await sum()))
    const count = await redis.incr(Buffer.concat(chunks).toString())
    response.end(String(count))
  } catch (error) {
    response.writeHead(502).end(String(error))
  }
})
/** The sum of all keys. */
async function sum(): Promise<number> {
  const keys = await redis.keys('*')
  if (keys.length === 0) return 0
  return (await redis.mGet(keys)).reduce((sum, count) => sum + Number(count), 0)
}

server.keepAliveTimeout = 120_000

process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))
