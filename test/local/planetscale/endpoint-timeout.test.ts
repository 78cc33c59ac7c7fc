import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  add,
  countersDatabase,
  countOf,
  directConnection,
  type EndpointDatabase,
  rejection,
} from './endpoint-database.ts'

/** Milliseconds after which these tests have a transaction ended. Nothing must happen within them. */
const LIMIT_MS = 300

describe('A transaction that takes longer than its limit', () => {
  const TOO_OLD = /code = Aborted desc = transaction \S+: ended at \S+ \(exceeded timeout: 0.3s\) \(CallerID/
  let db: EndpointDatabase

  beforeEach(async () => {
    db = await countersDatabase()
  })

  it('is ended: its locks are released, and its COMMIT fails without writing anything', async () => {
    // The limit of PlanetScale.
    expect((await db.behave({})).transactionMs).toBe(20_000)
    await db.behave({ transactionMs: LIMIT_MS })
    const began = performance.now()
    const session = await db.begin(add(1, 5))
    await db.client.execute(add(1, 1))
    expect(performance.now() - began).toBeGreaterThan(LIMIT_MS - 1)
    for (const sql of ['SELECT count FROM counters', 'COMMIT', 'COMMIT']) {
      const { status, body } = await db.execute(sql, session)
      expect({ status, code: body.error?.code }).toEqual({ status: 200, code: 'ABORTED' })
      expect(body.error?.message).toMatch(TOO_OLD)
      expect(body.session!.vitessSession).not.toHaveProperty('inTransaction')
    }
    expect(await countOf(db, 1)).toBe('1')
  })

  it('fails through the driver, whose ROLLBACK causes no further error', async () => {
    await db.behave({ transactionMs: LIMIT_MS })
    const failed = db.client.transaction(async (transaction) => {
      await transaction.execute(add(1, 5))
      await db.client.execute(add(1, 1))
    })
    const error = await rejection(failed)
    expect(error).toMatchObject({ status: 400, body: { code: 'ABORTED' }, message: expect.stringMatching(TOO_OLD) })
    expect(await countOf(db, 1)).toBe('1')
  })

  it('is ended even in the middle of a statement, which is answered', async () => {
    const holder = await directConnection(db.name)
    onTestFinished(() => holder.end())
    await holder.query('BEGIN')
    await holder.query(add(2, 100))
    const session = await db.begin(add(1, 5))
    // The database server itself would let it wait longer.
    await db.behave({ transactionMs: LIMIT_MS })
    const { body } = await db.execute(add(2, 5), session)
    expect(body.error).toMatchObject({ code: 'CANCELED', message: expect.stringMatching(/desc = \(errno 3024\)/) })
    // Its own lock is released while the other row is still locked.
    await db.client.execute(add(1, 1))
    expect(await countOf(db, 1)).toBe('1')
    await holder.query('ROLLBACK')
    expect(await countOf(db, 2)).toBe('0')
    const ended = await db.execute('COMMIT', body.session)
    expect(ended.body.error).toMatchObject({
      code: 'ABORTED',
      message: expect.stringMatching(/ended at \S+ \(unlocked closed connection\) \(CallerID/),
    })
    expect(ended.body.session!.vitessSession).not.toHaveProperty('inTransaction')
  })

  it('is ended when its time is up even if the answer to its first statement was lost', async () => {
    await db.behave({ transactionMs: LIMIT_MS, faults: [{ action: 'cut-answer', match: 'UPDATE' }] })
    const { session } = (await db.execute('BEGIN')).body
    await rejection(db.execute(add(1, 5), session))
    await db.execute('ROLLBACK', session)
    await db.client.execute(add(1, 1))
    expect(await countOf(db, 1)).toBe('1')
  })
})
