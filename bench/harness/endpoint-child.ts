// Runs the local PlanetScale endpoint in a separate process, so that its CPU time is not the benchmark's. Exits with its
// parent, and reports on request how many statements it has received and how many are running.

import { PlanetScaleEndpoint } from '../../local/planetscale/endpoint.ts'
import { type IsolationLevel, ServedDatabase } from '../../local/planetscale/served-database.ts'

const [port, password, isolation] = process.argv.slice(2)
const endpoint = new PlanetScaleEndpoint({
  port: Number(port),
  mysqlUrl: process.env.MYSQL_URL!,
  password: password!,
  ...(isolation !== undefined && { isolation: isolation as IsolationLevel }),
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

process.on('message', () => process.send!({ statements, running }))
process.on('disconnect', () => process.exit())
await endpoint.listen()
process.send!('listening')
