import { expect, it } from 'vitest'
import { AUTHORIZED, TOKEN } from '../../faults/client.ts'
import { VISITS } from '../../faults/counters.ts'
import { ExpectedCounts } from '../../faults/expected-counts.ts'
import { freshDatabase, rollUpAll } from '../../faults/faulty-database.ts'
import { load } from '../../faults/load.ts'
import { seededRandom } from '../../faults/seeded-random.ts'
import { quiet } from '../../faults/server-connections.ts'
import { checkRolledUp } from '../../faults/stored-counts.ts'
import { SERVER, Served, serveFolder, WORKERD } from './serve-script.ts'

const INCREMENTS = 3_000

/** `VISITS` as TOML. Its values look the same in JSON. */
const COUNTERS = Object.entries(VISITS.COUNTERS).map(([type, settings]) => {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
  return `[vars.COUNTERS.${type}]\n${lines.join('')}`
})
const PRUNING = `[vars.PRUNING]\nidempotency_hours = ${VISITS.PRUNING.idempotency_hours}\n`

it('serve counts as exactly as a Worker under faults, while workerd is killed', { timeout: 300_000 }, async () => {
  const db = await freshDatabase()
  const folder = await serveFolder(undefined, (settings) => {
    const shipped = settings
      .slice(0, settings.indexOf('\n[vars.COUNTERS.'))
      .replaceAll(/\blimit = \d+/g, 'limit = 1000000')
    return [shipped, ...COUNTERS, PRUNING].join('\n')
  })
  const env = {
    MYSQL_URL: `${db.mysqlUrl}/${db.name}`,
    API_TOKEN: TOKEN,
    TRUSTED_PROXIES: '127.0.0.1',
    CLIENT_ADDRESS_HEADER: 'CF-Connecting-IP',
  }
  const served = await Served.start(env, { folder })
  const random = seededRandom()
  const expected = new ExpectedCounts()
  let isKilled = false
  const counting = (increments: number) => {
    const enough = () => isKilled && expected.increments >= increments
    const kinds = { keyed: 0.3, visits: 0.2, pairs: 0.1, pixels: 0.3, hangUps: 0.02 }
    return load({ isolates: [served], expected, random, clients: 32, enough, ...kinds })
  }
  const first = counting(INCREMENTS / 2)
  await expect.poll(() => expected.increments).toBeGreaterThan(INCREMENTS / 4)
  const { refused } = expected.number
  await served.signal(WORKERD, 'SIGKILL')
  await served.script.printed(/The Worker ended unexpectedly/)
  isKilled = true
  await first
  expect(expected.number.refused).toBeGreaterThan(refused)
  await served.script.printed(/The Worker is running again/)
  await counting(expected.increments + INCREMENTS / 2)
  expect((await fetch(`${served.url}/v1/rollup`, { method: 'POST', headers: AUTHORIZED })).status).toBe(200)
  await served.signal(SERVER, 'SIGTERM')
  expect(await served.script.ended).toBe(0)
  expect(served.log.at(-1)).toMatchObject({ event: 'serve_stopped' })
  await quiet(db)
  await expected.check(db)
  await rollUpAll(db)
  await expected.check(db)
  await checkRolledUp(db)
  console.log({ ...expected.number, increments: expected.increments })
})
