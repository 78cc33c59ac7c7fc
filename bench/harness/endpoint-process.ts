// The local PlanetScale endpoint in a process of its own, so that what it costs is not the bench's. Ends with its parent, and
// tells it how many statements there were and are.
import { Branch, type IsolationLevel } from '../../local/planetscale/branch.ts'
import { PlanetScaleEndpoint } from '../../local/planetscale/endpoint.ts'

const [port, password, isolation] = process.argv.slice(2)
const endpoint = new PlanetScaleEndpoint({
  port: Number(port),
  mysqlUrl: process.env.MYSQL_URL!,
  password: password!,
  ...(isolation !== undefined && { isolation: isolation as IsolationLevel }),
})

let statements = 0
let running = 0
const { run } = Branch.prototype
// Counted here, and not by their requests: a statement goes on when its request was cut off.
Branch.prototype.run = async function (...args) {
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
