import { expect, it } from 'vitest'
import { addressOfKey } from '../../src/counters/keys/counter-address.ts'
import { rollUp } from '../../src/counters/rollup/roll-up.ts'
import { toBigInt } from '../../src/database/values.ts'
import { PLANS } from '../../src/plans.ts'
import { AGENT_CLASSES } from '../../src/visits/visitors.ts'
import { freshDatabase } from './faulty-database.ts'
import { inTurn } from './in-turn.ts'
import { Isolate } from './isolate.ts'
import { checkRolledUp } from './stored-counts.ts'

/** Downloads from one network. `AGENT_DOWNLOADS=600000` sends as many as the promise is about. */
const DOWNLOADS = Number(process.env.AGENT_DOWNLOADS ?? 15_000)
/** Connections to each isolate over which they come. */
const CONNECTIONS = 32
const WINDOW_SECONDS = 30
const HONEST_EVERY_MS = 5
/** Downloads of others that the flood goes on for, however fast it is. */
const LEAST_HONEST = 100
const ROLL_UP_EVERY_MS = 1_000
const COUNTERS = {
  download: { record_type: 2, public: true, allowed_origins: ['*'], redirect_to: 'https://files.test/' },
}
/** Milliseconds for the whole test: about 2,000 downloads per second, and ten times that in hand. */
const TIMEOUT_MS = 60_000 + DOWNLOADS * 5

it(`${DOWNLOADS} downloads of a file by one network with as many agents leave at most 64 rows per window`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const db = await freshDatabase()
  const isolates = await Isolate.start(2, db.url, { COUNTERS })
  const began = Date.now()
  const answers = new Map<string, number>()
  let sent = 0
  let honest = 0
  let over = false
  const flood = ({ port }: Isolate) =>
    inTurn(
      port,
      () =>
        !over && (sent < DOWNLOADS || honest <= LEAST_HONEST)
          ? downloadFrom(`2001:db8:0:1::${(sent % 65_536).toString(16)}`, `${sent++}`)
          : null,
      (said) => answers.set(said, (answers.get(said) ?? 0) + 1),
    )
  const visitors = ({ port }: Isolate) =>
    inTurn(
      port,
      () => (over ? null : downloadFrom(`10.${honest >> 16}.${(honest >> 8) & 255}.${honest++ & 255}`, '140')),
      (said) => expect(['counted', 'unknown']).toContain(said),
      HONEST_EVERY_MS,
    )
  const rollUps = async () => {
    while (!over) {
      await new Promise((resolve) => setTimeout(resolve, ROLL_UP_EVERY_MS))
      await rollUp(db, paid())
    }
  }
  const end = () => {
    over = true
  }
  const beside = [rollUps(), ...isolates.map(visitors)].map((work) => work.finally(end))
  await Promise.all(isolates.flatMap((isolate) => Array.from({ length: CONNECTIONS }, () => flood(isolate))))
  end()
  await Promise.all(beside)
  for (const isolate of isolates) await isolate.idle()

  const windows = Math.floor(Date.now() / 1_000 / WINDOW_SECONDS) - Math.floor(began / 1_000 / WINDOW_SECONDS) + 1
  const { counted = 0, unknown = 0 } = Object.fromEntries(answers)
  // A redirect does not wait long for its count, and visits of one class at the same instant do not know of each other.
  const duplicates = answers.get('ignored; reason=duplicate') ?? 0
  expect(counted + unknown + duplicates).toBe(sent)
  expect(duplicates).toBeGreaterThan(sent / 2)

  const { recordId } = await addressOfKey({ recordType: 2 }, 'app.zip')
  const number = async (sql: string) =>
    Number(
      toBigInt(
        Object.values((await db.execute(`${sql} WHERE record_type = 2 AND record_id = ${recordId}`)).rows[0]!)[0],
      ),
    )
  const rows = await number('SELECT COUNT(*) FROM slotted_counters')
  expect(rows).toBeLessThanOrEqual(honest + AGENT_CLASSES * windows)

  // One run of the paid plan is enough to catch up.
  const { outcome, left } = await rollUp(db, paid())
  expect([outcome, left]).toEqual(['complete', 0])
  await checkRolledUp(db)
  const others = (await number('SELECT count FROM counters')) - honest
  expect(others).toBeLessThanOrEqual(AGENT_CLASSES * windows)
  expect(others).toBeGreaterThanOrEqual(AGENT_CLASSES)
  expect(honest).toBeGreaterThan(LEAST_HONEST)
  console.log({ windows, rows, honest, others, unknown })
})

/** A download of the file: the first line and the headers of a request. */
function downloadFrom(address: string, version: string): string {
  const agent = `Mozilla/5.0 (X11; Linux x86_64; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`
  return `GET /d/download/app.zip HTTP/1.1\r\nUser-Agent: ${agent}\r\nCF-Connecting-IP: ${address}`
}

/** A roll-up of the paid plan. */
function paid() {
  return { ...PLANS.paid.rollUp, at: new Date() }
}
