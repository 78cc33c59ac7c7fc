// Runs the local PlanetScale endpoint in a separate process, so that its CPU time is not the benchmark's. Exits with its
// parent, and reports on request how many statements it has received, how many are running, and how long each took.

import { subscribe } from 'node:diagnostics_channel'
import { PlanetScaleEndpoint } from '../../local/planetscale/endpoint.ts'
import { ServedDatabase } from '../../local/planetscale/served-database.ts'

const [port, password] = process.argv.slice(2)
const endpoint = new PlanetScaleEndpoint({
  port: Number(port),
  mysqlUrl: process.env.MYSQL_URL!,
  password: password!,
})

let statements = 0
let running = 0
const { run } = ServedDatabase.prototype
// Counted here rather than per request: a statement continues after its request is cut off.
ServedDatabase.prototype.run = async function (...args) {
  statements++
  running++
  try {
    return await run.apply(this, args)
  } finally {
    running--
  }
}

/** Milliseconds from each request to its answer, since the last report. */
let durationsMs: number[] = []
const beganAt = new WeakMap<object, number>()
subscribe('http.server.request.start', (message) => {
  beganAt.set((message as { request: object }).request, performance.now())
})
subscribe('http.server.response.finish', (message) => {
  const { request } = message as { request: { url?: string } }
  if (request.url?.endsWith('/Execute')) durationsMs.push(performance.now() - beganAt.get(request)!)
})

process.on('message', ({ durations }: { durations?: boolean }) => {
  process.send!(durations ? { durationsMs } : { statements, running })
  if (durations) durationsMs = []
})
process.on('disconnect', () => process.exit())
await endpoint.listen()
process.send!('listening')
