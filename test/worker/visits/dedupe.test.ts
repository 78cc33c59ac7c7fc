import { beforeEach, describe, expect, it, vi } from 'vitest'
import { PRUNING_CRON, ROLL_UP_CRON } from '../../../src/config/config.ts'
import { deliver, sumOf, TestQueue } from '../../harness/local-queues.ts'
import { logged } from '../../harness/logged.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { TestWorker } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'
import { bePatient } from '../patience.ts'

/** In seconds. */
const YEAR = 365 * 24 * 3_600
const SETTINGS = {
  COUNTERS: {
    visit: { record_type: 1, public: true, allowed_origins: ['*'], dedupe_seconds: YEAR },
    hit: { record_type: 2, public: true, allowed_origins: ['*'] },
    classic: { record_type: 3, public: true, allowed_origins: ['*'], dedupe_seconds: YEAR, slots: 2 },
    file: { record_type: 5, redirect_to: '/files/', dedupe_seconds: YEAR },
  },
  PRUNING: { idempotency_hours: 365 * 24 },
}
const ADDRESS = '203.0.113.77'
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

const db = emptiedDatabase()
let worker: TestWorker
const isolate = (overrides = {}) => new TestWorker(db.url, { ...SETTINGS, ...overrides })
beforeEach(() => {
  bePatient()
  // No window ends unless a test says so, nor does the pause after which an isolate asks for a salt again.
  stopClock()
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
const countOf = (key = '/a', type = 'visit') => isolate().count(type, key)
const DUPLICATE = 'ignored; reason=duplicate'

describe('Within a window', () => {
  it('a visitor counts once, and later hits are reported as duplicates', async () => {
    expect([await visit(), await visit(), await visit()]).toEqual(['counted', DUPLICATE, DUPLICATE])
    const pixel = await worker.fetch('/hit.gif?type=visit&key=/a', { headers: headersOf({}) })
    expect([pixel.status, pixel.headers.get('X-Hit')]).toEqual([200, DUPLICATE])
    expect(pixel.headers.get('Content-Type')).toBe('image/gif')
    expect(await countOf()).toBe(1)
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
    expect(await countOf()).toBe(1)
  })

  it('a network makes at most 64 rows, and counts as often, however its agents, addresses and headers vary', async () => {
    const isolates = [worker, isolate(), isolate()]
    const waves = 10
    for (let wave = 0; wave < waves; wave++) {
      await Promise.all(
        Array.from({ length: 200 }, (_, i) => {
          const n = wave * 200 + i
          return isolates[i % 3]!.fetch(i % 2 ? `/hit?type=visit&key=/a` : `/hit.gif?type=visit&key=/a`, {
            method: i % 2 ? 'POST' : 'GET',
            headers: {
              'CF-Connecting-IP': `2001:db8:1:2:${n.toString(16)}::${i.toString(16)}`,
              'User-Agent': `${AGENT} ${n}`,
              'X-Forwarded-For': `198.51.100.${i}`,
              'Accept-Language': `x-${n}`,
              Cookie: `a=${n}`,
              Referer: `https://example.com/?n=${n}`,
            },
          })
        }),
      )
    }
    // 2,000 agents are in all classes, but for a chance of 1 in 10 billion.
    expect(await db.number('SELECT COUNT(*) FROM slotted_counters')).toBe(64n)
    expect(await countOf()).toBe(64)
    // Another network is not held up.
    expect(await visit({ address: '2001:db8:1:3::1' })).toBe('counted')
    await worker.cron(ROLL_UP_CRON)
    expect(await countOf()).toBe(65)
  })

  it('a byte range of a download does not make another visitor', async () => {
    const said = []
    for (const range of [undefined, 'bytes=0-', 'bytes=0-1023', 'bytes=0-9,20-29', 'nonsense']) {
      const headers = { ...headersOf({}), ...(range && { Range: range }) }
      const response = await worker.fetch('/d/file/a.zip', { headers })
      said.push(response.headers.get('X-Hit'))
    }
    expect(said).toEqual(['counted', DUPLICATE, DUPLICATE, DUPLICATE, DUPLICATE])
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

describe('While the database gives no salt', () => {
  const noSalts = () =>
    db.behave({ faults: [{ action: 'error', errno: 1146, match: 'visitor_salts', times: 1_000_000 }] })

  it('visits are counted, once in an isolate, and the log says so', async () => {
    await noSalts()
    const lines = await logged(async () => {
      expect([await visit(), await visit()]).toEqual(['counted', DUPLICATE])
      expect(await visit({ address: '203.0.113.78' })).toBe('counted')
    })
    expect(lines).toEqual([{ event: 'salt_missing', reason: 'schema' }])
    expect(await countOf()).toBe(2)
    // The isolate asks again, and stores the salt that it used: the visitor stays known.
    await db.behave()
    vi.setSystemTime(Date.now() + 10_000)
    expect(await visit()).toBe(DUPLICATE)
    expect(await visit({ on: isolate() })).toBe('counted')
    expect(await countOf()).toBe(2)
  })

  it('a visit goes into the queue', async () => {
    await db.behave({ faults: [{ action: 'error', errno: 2003, match: '^(INSERT|SELECT)', times: 1_000_000 }] })
    const queueing = isolate({ BATCHES: TestQueue.batches.binding })
    await logged(async () =>
      expect([await visit({ on: queueing }), await visit({ on: queueing })]).toEqual(['queued', DUPLICATE]),
    )
    await db.behave()
    await deliver(queueing, await TestQueue.batches.take((taken) => sumOf(taken) >= 1n))
    expect(await countOf()).toBe(1)
  })
})

describe('When the database fails', () => {
  const refuse = () => db.behave({ faults: [{ action: 'error', errno: 2003, match: '^INSERT', times: 1_000_000 }] })

  it('a visit that was not counted does not become a duplicate', async () => {
    await refuse()
    expect((await worker.hit('visit', '/a', headersOf({}))).status).toBe(503)
    await db.behave()
    // The circuit breaker of the isolate lets a statement through by then.
    vi.setSystemTime(Date.now() + 10_000)
    expect(await visit()).toBe('counted')
    expect(await countOf()).toBe(1)
  })

  it('a visit that went through the queue counts once, even if another isolate has counted it', async () => {
    // The salt of the day exists.
    await visit({ key: '/b' })
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

it('The salt of a day is in its table alone: not in the queue, not in the log, not in an answer', async () => {
  const queueing = isolate({ BATCHES: TestQueue.batches.binding })
  const answers: string[] = []
  await visit()
  const lines = await logged(async () => {
    await db.behave({ faults: [{ action: 'error', errno: 2003, match: '^INSERT INTO', times: 1_000_000 }] })
    expect(await visit({ on: queueing })).toBe('queued')
    await db.behave()
    await worker.cron(ROLL_UP_CRON)
    await worker.cron(PRUNING_CRON)
    for (const path of ['/v1/status', '/v1/export/visit']) {
      answers.push(await (await worker.api('GET', path)).text())
    }
  })
  const taken = await TestQueue.batches.take((taken) => sumOf(taken) >= 1n)
  await deliver(queueing, taken)
  const { rows } = await db.execute('SELECT HEX(salt) AS salt FROM visitor_salts')
  expect(rows).toHaveLength(1)
  const everything = JSON.stringify([taken, lines, answers], (_, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  )
  expect(everything.toUpperCase()).not.toContain(rows[0]!.salt)
  for (const text of clues()) expect(JSON.stringify([taken, lines])).not.toContain(text)
})

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
