import { describe, it } from 'vitest'
import { add, countersDatabase, countOf, directConnection, rejection } from './endpoint-database.ts'

describe.concurrent('a transaction older than 20 s', () => {
  const TOO_OLD = /code = Aborted desc = transaction \S+: ended at \S+ \(exceeded timeout: 20s\) \(errno 1317\)/

  it('is ended, its locks are freed, and its COMMIT fails with nothing written', async ({ expect }) => {
    const db = await countersDatabase()
    const began = performance.now()
    const { session } = (await db.execute('BEGIN')).body
    await db.execute(add(1, 5), session)
    // Waits for the row until the transaction that has it is ended.
    await db.client.execute(add(1, 1))
    expect(performance.now() - began).toBeGreaterThan(19_900)
    for (const sql of ['SELECT count FROM counters', 'COMMIT', 'COMMIT']) {
      const { status, body } = await db.execute(sql, session)
      expect({ status, code: body.error?.code }).toEqual({ status: 200, code: 'ABORTED' })
      expect(body.error?.message).toMatch(TOO_OLD)
      expect(body.session!.vitessSession).not.toHaveProperty('inTransaction')
    }
    expect(await countOf(db, 1)).toBe('1')
  })

  it('fails through the driver, whose ROLLBACK then is no error of its own', async ({ expect }) => {
    const db = await countersDatabase()
    const failed = db.client.transaction(async (transaction) => {
      await transaction.execute(add(1, 5))
      await db.client.execute(add(1, 1))
    })
    const error = await rejection(failed)
    expect(error).toMatchObject({ status: 400, body: { code: 'ABORTED' }, message: expect.stringMatching(TOO_OLD) })
    expect(await countOf(db, 1)).toBe('1')
  })

  it('is ended in the middle of a statement as well, and that statement is answered', async ({
    expect,
    onTestFinished,
  }) => {
    const db = await countersDatabase()
    const holder = await directConnection(db.name)
    onTestFinished(() => holder.end())
    await holder.query('BEGIN')
    await holder.query(add(2, 100))
    const { session } = (await db.execute('BEGIN')).body
    await db.execute(add(1, 5), session)
    // The server behind would let it wait for the row for longer than that.
    const { body } = await db.execute(add(2, 5), session)
    expect(body.error).toMatchObject({ code: 'ABORTED', message: expect.stringMatching(TOO_OLD) })
    expect(body.session!.vitessSession).not.toHaveProperty('inTransaction')
    // Its other lock is free while the row it waited for is still held.
    await db.client.execute(add(1, 1))
    expect(await countOf(db, 1)).toBe('1')
    await holder.query('ROLLBACK')
    expect(await countOf(db, 2)).toBe('0')
    expect((await db.execute('COMMIT', session)).body.error?.message).toMatch(TOO_OLD)
  })
})
