import type { Fault } from '../../local/planetscale/behaviour.ts'
import { openDatabase } from '../../src/database/database.ts'
import { TOKEN } from './client.ts'
import { type FaultyDatabase, rollUpBeside } from './database.ts'
import type { Isolate } from './isolate.ts'
import type { LateNetwork } from './late-network.ts'
import type { Pruner } from './pruner.ts'
import type { Random } from './random.ts'
import type { Receipts } from './receipts.ts'

/** Where everything happens at once. */
export interface World {
  db: FaultyDatabase
  network: LateNetwork
  isolates: readonly Isolate[]
  random: Random
  /** Whether it is over; what goes on all the time asks before each step. */
  over: () => boolean
}

/** Milliseconds in which what is sent again and again must have been acknowledged. */
const ACKNOWLEDGED_MS = 90_000

const BATCH = String.raw`IF\(batch`
const ERRNOS = [1205, 1213, 1040, 1317, 2006, 2013, 1105, 1290]
const STATUSES = [502, 503, 520, 521, 429]

/** A network and a server that do something else every moment. */
export async function misbehave({ db, network, random, over }: World): Promise<void> {
  while (!over()) {
    const faults = Array.from({ length: random.between(0, 3) }, () => randomFault(random))
    const slow = random.chance(0.3) ? { latencyMs: random.between(0, 30), commitMs: random.between(0, 10) } : {}
    await db.behave({ ...slow, faults })
    network.late = random.chance(0.3) ? 0.2 : 0
    await moment(random, 300)
  }
  await db.behave()
  network.late = 0
}

function randomFault(random: Random): Fault {
  const often = { skip: random.between(0, 10), times: random.between(1, 5) }
  // A hang seldom, as it takes 3 s. Only where the Worker gives up then: a roll-up of its own would wait for 20, with locks
  // that stop everything else.
  if (random.chance(0.08)) {
    return { skip: often.skip, action: random.pick(['hang-answer', 'hang-request']), match: BATCH }
  }
  const fault = random.pick<Fault>([
    { action: 'cut-answer' },
    { action: 'cut-request' },
    { action: 'error', errno: random.pick(ERRNOS) },
    { action: 'html', status: random.pick(STATUSES) },
  ])
  return { ...often, ...fault }
}

/** Roll-ups beside each other that give up early. */
export async function rollUpAllTheTime({ db, random, over }: World): Promise<void> {
  const impatient = openDatabase({ url: db.url, deadlineMs: 2_000 })
  while (!over()) {
    await rollUpBeside(impatient, random.between(5, 500)).catch(() => {})
    await moment(random, 200)
  }
}

/** Roll-ups by the Worker itself, one at a time. */
export async function askForRollUps({ isolates, random, over }: World): Promise<void> {
  while (!over()) {
    const url = `${random.pick(isolates).url}/v1/rollup`
    await fetch(url, { method: 'POST', headers: { Authorization: `Bearer ${TOKEN}` } }).catch(() => {})
    await moment(random, 200)
  }
}

/** Imports onto counters that others add to, and settings of one that nobody else touches, each until it is acknowledged. */
export async function adjustAllTheTime(world: World, receipts: Receipts): Promise<void> {
  const { random, over } = world
  const [type, setKey] = ['page_view', '/set-again-and-again'] as const
  let setTo = 0
  for (let n = 0; !over(); n++) {
    const part = { type, key: `/hot/one/${random.between(1, 3)}`, by: random.between(1, 9) }
    const counters = [{ type, key: part.key, count: part.by }]
    await untilAcknowledged(world, 'POST', '/v1/imports', { counters }, `import ${n}`)
    receipts.book([part], 'counted')
    setTo = random.between(-1_000, 1_000)
    const path = `/v1/counters/${type}/${encodeURIComponent(setKey)}`
    await untilAcknowledged(world, 'PUT', path, { count: setTo }, `set ${n}`)
    await moment(random, 50)
  }
  receipts.book([{ type, key: setKey, by: setTo }], 'counted')
}

async function untilAcknowledged(
  { isolates, random, over }: World,
  method: string,
  path: string,
  body: unknown,
  key: string,
): Promise<void> {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', 'Idempotency-Key': key }
  const init = { method, headers, body: JSON.stringify(body) }
  // While everything fails, this may too; once it is over, it must not.
  let giveUpAt = Number.POSITIVE_INFINITY
  for (;;) {
    if (over()) giveUpAt = Math.min(giveUpAt, Date.now() + ACKNOWLEDGED_MS)
    const answer = await fetch(random.pick(isolates).url + path, init).catch(() => null)
    const text = await answer?.text().catch(() => null)
    if (answer?.ok) {
      // Once more now and then: it was done.
      if (random.chance(0.7)) return
    } else if (answer && answer.status !== 503 && answer.status !== 409) {
      throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    }
    if (Date.now() > giveUpAt)
      throw new Error(`${method} ${path} was never acknowledged; at last: ${answer?.status ?? 'no answer'} ${text}`)
    await moment(random, 100)
  }
}

/** Readings by whatever isolate, none of which may miss what was acknowledged before it, or be below an earlier one. */
export async function readAllTheTime({ isolates, random, over }: World, receipts: Receipts): Promise<void> {
  const key = '/hot/hit/1'
  for (let last = 0; !over(); await moment(random, 100)) {
    const acknowledged = receipts.acknowledged(key)
    const { url } = random.pick(isolates)
    const answer = await fetch(`${url}/v1/counters/page_view/${encodeURIComponent(key)}`).catch(() => null)
    if (answer?.status !== 200) continue
    const { count } = (await answer.json()) as { count: number }
    if (count < acknowledged || count < last) throw new Error(`read ${count} after ${last} and ${acknowledged}`)
    last = count
  }
}

/** Kills isolates, some time apart. */
export async function killIsolates({ isolates, random, over }: World): Promise<void> {
  while (!over()) {
    await moment(random, 5_000)
    await random.pick(isolates).replace()
  }
}

/** Deletes slots that have served their time. */
export async function pruneAllTheTime({ db, random, over }: World, pruner: Pruner): Promise<void> {
  while (!over()) {
    await pruner.run(db)
    await moment(random, 500)
  }
}

function moment(random: Random, mostMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, random.between(0, mostMs)))
}
