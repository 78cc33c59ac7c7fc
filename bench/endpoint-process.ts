// The local PlanetScale endpoint in a process of its own, so that what it costs is not the bench's. Ends with its parent.
import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { PlanetScaleEndpoint } from '../local/planetscale/endpoint.ts'

const [password] = process.argv.slice(2)
const endpoint = new PlanetScaleEndpoint({ mysqlUrl: process.env.MYSQL_URL!, password: password! })

let statements = 0
subscribe('http.server.request.start', (message) => {
  if ((message as { request: IncomingMessage }).request.url?.endsWith('/Execute')) statements++
})

process.on('message', () => process.send!({ statements }))
process.on('disconnect', () => process.exit())
await endpoint.listen()
process.send!({ port: endpoint.port })
