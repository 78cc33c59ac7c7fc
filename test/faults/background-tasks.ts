import { setTimeout } from 'node:timers/promises'
import type { Fault } from '../../local/planetscale/fault-injection.ts'
import { openDatabase } from '../../src/database/database.ts'
import type { Random } from '../harness/random.ts'
import { AUTHORIZED } from './client.ts'
import type { ExpectedCounts } from './expected-counts.ts'
import { type FaultyDatabase, rollUpBeside } from './faulty-database.ts'
import type { Isolate } from './isolate.ts'
import type { LateNetwork } from './late-network.ts'
import type { Pruner } from './pruner.ts'

/** What the background tasks work on. */
export interface World {
  db: FaultyDatabase
  network: LateNetwork
  isolates: readonly Isolate[]
  random: Random
  /** Whether the test is over. Each task asks before each step. */
  over: () => boolean
}

/** A `World` of which only the Workers are used. */
type Workers = Pick<World, 'random' | 'over'> & { isolates: readonly { url: string }[] }

/** Milliseconds within which a request that is repeated must be acknowledged. */
const ACKNOWLEDGED_MS = 120_000

const BATCH = String.raw`IF\(batch`
const ERRNOS = [1205, 1213, 1040, 1317, 2006, 2013, 1105, 1290]
const STATUSES = [502, 503, 520, 521, 429]

/** Makes the network and the server fail in another way every moment. */
export async function injectFaults({ db, network, random, over }: World): Promise<void> {
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
  // A hang takes 3 s, so it is rare. It hits only batches, which the Worker gives up: a roll-up would wait for 20 s, with
  // locks that block everything else.
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

/** Rolls up without a lease, with a short deadline. */
export async function rollUpAllTheTime({ db, random, over }: World): Promise<void> {
  const impatient = openDatabase({ url: db.url, ranges: db.ranges, deadlineMs: 2_000 })
  while (!over()) {
    await rollUpBeside(impatient, random.between(5, 500)).catch(() => {})
    await moment(random, 200)
  }
}

/** Makes the Workers roll up, one at a time, at most `everyMs` apart. */
export async function askForRollUps({ isolates, random, over }: Workers, everyMs = 200): Promise<void> {
  while (!over()) {
    const url = `${random.pick(isolates).url}/v1/rollup`
    await fetch(url, { method: 'POST', headers: AUTHORIZED }).catch(() => {})
    await moment(random, everyMs)
  }
}

/** Imports into counters that clients add to, and sets a counter that nothing else changes. Repeats each until it is acknowledged. */
export async function adjustAllTheTime(world: World, expected: ExpectedCounts): Promise<void> {
  const { random, over } = world
  const [type, setKey] = ['page_view', '/set-again-and-again'] as const
  let setTo = 0
  for (let n = 0; !over(); n++) {
    const increment = { type, key: `/hot/one/${random.between(1, 3)}`, by: random.between(1, 9) }
    const counters = [{ type, key: increment.key, count: increment.by }]
    await untilAcknowledged(world, 'POST', '/v1/imports', { counters }, `import ${n}`)
    expected.record([increment], 'counted')
    setTo = random.between(-1_000, 1_000)
    const path = `/v1/counters/${type}/${encodeURIComponent(setKey)}`
    await untilAcknowledged(world, 'PUT', path, { count: setTo }, `set ${n}`)
    await moment(random, 50)
  }
  expected.record([{ type, key: setKey, by: setTo }], 'counted')
}

async function untilAcknowledged(
  { isolates, random, over }: World,
  method: string,
  path: string,
  body: unknown,
  key: string,
): Promise<void> {
  const headers = { ...AUTHORIZED, 'Content-Type': 'application/json', 'Idempotency-Key': key }
  const init = { method, headers, body: JSON.stringify(body) }
  // While there are faults this may fail for any time. The deadline begins when they are over.
  let giveUpAt = Number.POSITIVE_INFINITY
  for (;;) {
    if (over()) giveUpAt = Math.min(giveUpAt, Date.now() + ACKNOWLEDGED_MS)
    const answer = await fetch(random.pick(isolates).url + path, init).catch(() => null)
    const text = await answer?.text().catch(() => null)
    if (answer?.ok) {
      // Otherwise it is sent once more, which must change nothing.
      if (random.chance(0.7)) return
    } else if (answer && answer.status !== 503 && answer.status !== 409) {
      throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    }
    if (Date.now() > giveUpAt)
      throw new Error(`${method} ${path} was never acknowledged. Last answer: ${answer?.status ?? 'none'} ${text}`)
    await moment(random, 100)
  }
}

/** Reads a counter from any isolate. A count must include all that was acknowledged before, and must never fall. */
export async function readAllTheTime({ isolates, random, over }: World, expected: ExpectedCounts): Promise<void> {
  const [type, key] = ['page_view', '/hot/hit/1'] as const
  for (let last = 0; !over(); await moment(random, 100)) {
    const acknowledged = expected.acknowledged({ type, key })
    const { url } = random.pick(isolates)
    const path = `/v1/counters/${type}/${encodeURIComponent(key)}`
    const answer = await fetch(url + path, { headers: AUTHORIZED }).catch(() => null)
    if (answer?.status !== 200) continue
    const { count } = (await answer.json()) as { count: number }
    if (count < acknowledged || count < last) {
      throw new Error(`read ${count} after ${last}, when ${acknowledged} had been acknowledged`)
    }
    last = count
  }
}

/** Kills an isolate every few seconds. */
export async function killIsolates({ isolates, random, over }: World): Promise<void> {
  while (!over()) {
    await moment(random, 5_000)
    await random.pick(isolates).replace()
  }
}

/** Deletes the slots of finished requests. */
export async function pruneAllTheTime({ db, random, over }: World, pruner: Pruner): Promise<void> {
  while (!over()) {
    await pruner.run(db)
    await moment(random, 500)
  }
}

function moment(random: Random, mostMs: number): Promise<void> {
  return setTimeout(random.between(0, mostMs))
}
