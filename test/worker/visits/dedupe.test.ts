import { beforeEach, describe, expect, it } from 'vitest'
import { PRUNING_CRON, ROLL_UP_CRON } from '../../../src/scheduled.ts'
import { freshDatabase, type TestDatabase } from '../../harness/database.ts'
import { deliver, sumOf, TestQueue } from '../../harness/local-queues.ts'
import { TestWorker } from '../../harness/worker.ts'

/** In seconds: a window that does not end while these tests run. */
const YEAR = 365 * 24 * 3_600
const SETTINGS = {
  COUNTERS: {
    visit: { record_type: 1, public: true, allowed_origins: ['*'], dedupe_seconds: YEAR },
    hit: { record_type: 2, public: true, allowed_origins: ['*'] },
    classic: { record_type: 3, public: true, allowed_origins: ['*'], dedupe_seconds: YEAR, slots: 2 },
    brief: { record_type: 4, public: true, allowed_origins: ['*'], dedupe_seconds: 1 },
  },
  PRUNING: { idempotency_hours: 365 * 24 },
}
const ADDRESS = '203.0.113.77'
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

let db: TestDatabase
let worker: TestWorker
const isolate = (overrides = {}) => new TestWorker(db.url, { ...SETTINGS, ...overrides })
beforeEach(async () => {
  db = await freshDatabase()
  worker = isolate()
})

interface Visit {
  type?: string
  key?: string
  address?: string | null
  agent?: string | null
  on?: TestWorker
}
const headersOf = ({ address = ADDRESS, agent = AGENT }: Visit): Record<string, string> => ({
  ...(address !== null && { 'CF-Connecting-IP': address }),
  ...(agent !== null && { 'User-Agent': agent }),
})
/** Sends a visit, and returns its X-Hit. */
async function visit(visit: Visit = {}): Promise<string | null> {
  const { type = 'visit', key = '/a', on = worker } = visit
  const response = await on.hit(type, key, headersOf(visit))
  expect(response.status).toBe(204)
  return response.headers.get('X-Hit')
}
const countOf = async (key = '/a', type = 'visit') => {
  const response = await isolate().fetch(`/v1/counters/${type}/${encodeURIComponent(key)}`)
  return ((await response.json()) as { count: number }).count
}
const DUPLICATE = 'ignored; reason=duplicate'

describe('Within a window', () => {
  it('a visitor counts once, and later hits are reported as duplicates', async () => {
    expect([await visit(), await visit(), await visit()]).toEqual(['counted', DUPLICATE, DUPLICATE])
    const pixel = await worker.fetch('/hit.gif?type=visit&key=/a', { headers: headersOf({}) })
    expect([pixel.status, pixel.headers.get('Content-Type'), pixel.headers.get('X-Hit')]).toEqual([
      200,
      'image/gif',
      DUPLICATE,
    ])
    expect(await countOf()).toBe(1)
  })

  it.each<[string, Visit, string, string]>([
    ['address', { address: '203.0.113.78' }, 'visit', '/a'],
    ['user agent', { agent: `${AGENT}0` }, 'visit', '/a'],
    ['IPv6 address', { address: '2001:db8::77' }, 'visit', '/a'],
    ['key', { key: '/b' }, 'visit', '/b'],
    ['type', { type: 'classic' }, 'classic', '/a'],
  ])('another %s is another visit', async (_, other, type, key) => {
    await visit()
    expect([await visit(other), await visit(other)]).toEqual(['counted', DUPLICATE])
    expect(await countOf(key, type)).toBe(type === 'visit' && key === '/a' ? 2 : 1)
  })

  it('a visitor counts once in several isolates, at the same time and after a roll-up and pruning', async () => {
    const isolates = Array.from({ length: 4 }, () => isolate())
    await Promise.all(isolates.flatMap((on) => [visit({ on }), visit({ on }), visit({ on, address: '203.0.113.78' })]))
    expect(await countOf()).toBe(2)
    await worker.cron(ROLL_UP_CRON)
    await worker.cron(PRUNING_CRON)
    // This isolate has not seen the visit. The database recognises it.
    expect(await visit({ on: isolate() })).toBe('counted')
    expect(await countOf()).toBe(2)
  })

  it('all hits count of a type without deduplication, of the API, and of visitors without an address', async () => {
    for (let i = 0; i < 3; i++) {
      expect(await visit({ type: 'hit' })).toBe('counted')
      expect(await visit({ key: '/nobody', address: null })).toBe('counted')
      const { status } = await worker.api('POST', '/v1/counters/visit/%2Fapi', undefined, headersOf({}))
      expect(status).toBe(200)
    }
    expect([await countOf('/a', 'hit'), await countOf('/nobody'), await countOf('/api')]).toEqual([3, 3, 3])
  })

  it('a visitor without a user agent counts once', async () => {
    expect([await visit({ agent: null }), await visit({ agent: null })]).toEqual(['counted', DUPLICATE])
    expect(await visit()).toBe('counted')
    expect(await countOf()).toBe(2)
  })

  it('each visit of a type with classic slots counts once, in its own slot', async () => {
    for (let i = 0; i < 20; i++) {
      for (const on of [worker, isolate()]) await visit({ type: 'classic', address: `203.0.113.${i}`, on })
    }
    for (let i = 0; i < 5; i++) await visit({ type: 'classic', address: null })
    expect(await countOf('/a', 'classic')).toBe(25)
    expect(await db.number('SELECT COUNT(*) FROM slotted_counters WHERE slot >= 2 AND slot = batch')).toBe(20n)
    expect(await db.number('SELECT SUM(count) FROM slotted_counters WHERE slot < 2')).toBe(5n)
  })
})

describe('When the database fails', () => {
  const refuse = () => db.behave({ faults: [{ action: 'error', errno: 2003, match: '^INSERT', times: 1_000_000 }] })

  it('a visit that was not counted does not become a duplicate', async () => {
    await refuse()
    const response = await worker.hit('visit', '/a', headersOf({}))
    expect(response.status).toBe(503)
    await db.behave()
    for (const began = Date.now(); ; ) {
      const { headers } = await worker.hit('visit', '/a', headersOf({}))
      if (headers.get('X-Hit') === 'counted') break
      // Until the circuit breaker of the isolate closes.
      expect(Date.now() - began).toBeLessThan(30_000)
    }
    expect(await countOf()).toBe(1)
  })

  it('a visit that went through the queue counts once, even if another isolate has counted it', async () => {
    const queueing = isolate({ BATCHES: TestQueue.batches.binding })
    await refuse()
    expect([await visit({ on: queueing }), await visit({ on: queueing })]).toEqual(['queued', DUPLICATE])
    await db.behave()
    expect(await visit({ on: isolate() })).toBe('counted')
    const taken = await TestQueue.batches.take((taken) => sumOf(taken) >= 1n)
    await deliver(queueing, taken)
    expect(await countOf()).toBe(1)
    for (const text of clues()) expect(JSON.stringify(taken)).not.toContain(text)
  })
})

/** Encodings of the visitor's address and user agent. */
function clues(): string[] {
  const hex = (text: string) => [...new TextEncoder().encode(text)].map((byte) => byte.toString(16)).join('')
  const number = ADDRESS.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0)
  return [ADDRESS, AGENT, 'Firefox', btoa(ADDRESS), hex(ADDRESS), hex(AGENT), String(number), number.toString(16)]
}

it('No table contains an address or a user agent', async () => {
  await visit()
  await visit({ type: 'classic' })
  await worker.cron(ROLL_UP_CRON)
  const { rows: tables } = await db.execute(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
  )
  expect(tables.length).toBeGreaterThanOrEqual(5)
  let everything = ''
  for (const { name } of tables) {
    const { rows: columns } = await db.execute(
      'SELECT column_name AS name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?',
      [name],
    )
    for (const column of columns) {
      const { rows } = await db.execute(
        `SELECT HEX(CAST(\`${column.name}\` AS CHAR)) AS hex, CAST(\`${column.name}\` AS CHAR) AS text FROM \`${name}\``,
      )
      everything += JSON.stringify(rows).toLowerCase()
    }
  }
  for (const text of clues()) expect(everything).not.toContain(text.toLowerCase())
  // The key's name shows that plain text would be found.
  expect(everything).toContain('"text":"/a"')
})

it('A visitor counts again in the next window', async () => {
  let counted = 0
  let repeats = 0
  for (const began = Date.now(); counted < 3 || repeats === 0; ) {
    expect(Date.now() - began).toBeLessThan(30_000)
    const said = await visit({ type: 'brief' })
    expect(['counted', DUPLICATE]).toContain(said)
    if (said === 'counted') counted++
    else repeats++
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  expect(await countOf('/a', 'brief')).toBe(counted)
})
