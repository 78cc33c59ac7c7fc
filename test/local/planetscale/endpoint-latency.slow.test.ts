import { Client } from '@planetscale/database'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Fault } from '../../../local/planetscale/fault-injection.ts'
import { add, countersDatabase, type EndpointDatabase, emptyDatabase, sumOf } from './endpoint-database.ts'

let db: EndpointDatabase
beforeEach(async () => {
  db = await countersDatabase()
})

/** The duration of some work in milliseconds. */
async function took(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Node's timers round to milliseconds, so a pause may appear a little shorter. */
const atLeast = (milliseconds: number) => milliseconds - 5

/** The names of promises in the order in which they are fulfilled. */
async function finishingOrder(work: Record<string, Promise<unknown>>): Promise<string[]> {
  const order: string[] = []
  await Promise.all(Object.entries(work).map(([name, promise]) => promise.then(() => order.push(name))))
  return order
}

describe('The behaviour of the endpoint', () => {
  it('is set and read for one credential, and reset by an empty object', async () => {
    const none = {
      latencyMs: 0,
      commitMs: 0,
      transactionMs: 20_000,
      faults: [],
      record: false,
      safeMigrations: false,
      sqlMode: null,
      isolation: null,
      clockSeconds: null,
    }
    expect((await db.send('/local/behaviour', { method: 'GET' })).body).toEqual(none)
    const faults: Fault[] = [{ action: 'html', match: 'never' }]
    expect(await db.behave({ latencyMs: 1, faults })).toEqual({ ...none, latencyMs: 1, faults })
    expect((await db.send('/local/behaviour', { method: 'GET' })).body).toEqual({ ...none, latencyMs: 1, faults })
    const other = await emptyDatabase()
    expect((await other.send('/local/behaviour', { method: 'GET' })).body).toEqual(none)
    expect(await db.behave({})).toEqual(none)
    const headers = { Authorization: `Basic ${btoa(`${db.name}:wrong`)}` }
    const refused = await db.send('/local/behaviour', { method: 'PUT', headers, body: '{"latencyMs":60000}' })
    expect(refused.status).toBe(401)
    expect((await db.send('/local/behaviour', { method: 'GET' })).body).toEqual(none)
  })

  it('adds its latency to every statement, in parallel or in sequence', async () => {
    await db.behave({ latencyMs: 300 })
    expect(await took(() => db.client.execute('SELECT 1'))).toBeGreaterThanOrEqual(atLeast(300))
    const transaction = () => db.client.transaction((transaction) => transaction.execute(add(1)))
    expect(await took(transaction)).toBeGreaterThanOrEqual(atLeast(900))
    // Latency is not a queue: ten requests are all sent before the first response.
    let running = 0
    let most = 0
    const client = new Client({
      url: db.url,
      fetch: async (input, init) => {
        most = Math.max(most, ++running)
        const response = await fetch(input, init)
        running--
        return response
      },
    })
    await Promise.all(Array.from({ length: 10 }, () => client.execute('SELECT 1')))
    expect(most).toBe(10)
    await db.behave({})
    expect(await sumOf(db)).toBe('1')
  })
})

describe('A slow commit', () => {
  const commitMs = 1_500

  it('makes only the second writer of the same row wait for the first', async () => {
    await db.behave({ commitMs })
    const began = performance.now()
    const order = await finishingOrder({
      same: db.client.execute(add(1)),
      again: db.client.execute(add(1)),
      other: db.client.execute(add(2)),
      read: db.client.execute('SELECT count FROM counters WHERE id = 1'),
    })
    expect(performance.now() - began).toBeGreaterThanOrEqual(atLeast(2 * commitMs))
    expect(order[0]).toBe('read')
    expect(order[3]).not.toBe('other')
    expect(await sumOf(db)).toBe('3')
  })

  it('hides the write until it is over', async () => {
    await db.behave({ commitMs })
    let over = false
    const write = db.client.execute(`/* why */ ${add(1)}`).then(() => {
      over = true
    })
    const seen: unknown[] = []
    while (!over) {
      const count = await sumOf(db)
      if (!over) seen.push(count)
    }
    await write
    expect(seen.length).toBeGreaterThan(0)
    // The last one may fall between the COMMIT and its response.
    expect(new Set(seen.slice(0, -1))).toEqual(new Set(['0']))
    expect(await sumOf(db)).toBe('1')
  })

  it('rolls back a write that fails, and reports the error as usual', async () => {
    await db.behave({ commitMs: 1 })
    const { body } = await db.execute('INSERT INTO counters VALUES (11, 1), (1, 1)')
    expect(body.error?.code).toBe('ALREADY_EXISTS')
    expect(body.session?.vitessSession).not.toHaveProperty('inTransaction')
    expect(await sumOf(db)).toBe('0')
    expect(await db.client.execute('INSERT INTO counters VALUES (11, 1)')).toMatchObject({ rowsAffected: 1 })
  })
})

describe('The recording of statements', () => {
  it('shows for each statement the rows that it returned, changed and made the server read', async () => {
    await db.client.execute('SELECT 1 AS before_recording')
    await db.behave({ record: true })
    const statements = [
      'SELECT count FROM counters WHERE id = 3',
      'SELECT SUM(count) FROM counters',
      add(1),
      'INSERT INTO counters VALUES (20, 0), (21, 0)',
    ]
    for (const sql of statements) await db.client.execute(sql)
    const recorded = await db.recorded()
    expect(recorded.map(({ sql }) => sql)).toEqual(statements)
    expect(recorded).toMatchObject([
      { rowsReturned: 1, rowsAffected: 0, rowsRead: 1 },
      { rowsReturned: 1, rowsAffected: 0, rowsRead: expect.any(Number) },
      { rowsReturned: 0, rowsAffected: 1, rowsRead: 1 },
      { rowsReturned: 0, rowsAffected: 2, rowsRead: 0 },
    ])
    // Ten rows, plus reads at the beginning and the end of the table.
    expect(recorded[1]!.rowsRead).toBeGreaterThanOrEqual(10)
    expect(recorded[1]!.rowsRead).toBeLessThanOrEqual(13)
  })

  it('counts the same in a transaction and in parallel', async () => {
    await db.behave({ record: true })
    await db.client.transaction(async (transaction) => {
      for (let id = 1; id <= 3; id++) await transaction.execute(add(id))
    })
    await Promise.all(Array.from({ length: 5 }, (_, index) => db.client.execute(add(index + 1))))
    const recorded = await db.recorded()
    expect(recorded.filter(({ sql }) => sql.startsWith('UPDATE'))).toHaveLength(8)
    for (const { rowsRead, rowsAffected } of recorded)
      expect({ rowsRead, rowsAffected }).toEqual({ rowsRead: 1, rowsAffected: 1 })
  })

  it('can be emptied and stopped, and concerns one database', async () => {
    const other = await emptyDatabase()
    await db.behave({ record: true })
    await db.client.execute(add(1))
    expect(await db.recorded()).toHaveLength(1)
    expect(await other.recorded()).toEqual([])
    expect((await db.send('/local/statements', { method: 'DELETE' })).body).toEqual([])
    expect(await db.recorded()).toEqual([])
    await db.behave({})
    await db.client.execute(add(1))
    expect(await db.recorded()).toEqual([])
  })
})
