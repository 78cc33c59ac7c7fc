import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  add,
  countersDatabase,
  countOf,
  databaseAt,
  directConnection,
  type EndpointDatabase,
  ownEndpoint,
  rejection,
} from './endpoint-database.ts'

/** Milliseconds after which a transaction is ended. */
const LIMIT_MS = 20_000

describe('A transaction older than 20 s', () => {
  const TOO_OLD = /code = Aborted desc = transaction \S+: ended at \S+ \(exceeded timeout: 20s\) \(CallerID/
  let db: EndpointDatabase

  // The endpoint runs in this process, where its clock stands still until a test moves it.
  beforeEach(async () => {
    const { name } = await countersDatabase()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    db = databaseAt(name, (await ownEndpoint('test')).urlOf(name))
  })

  /** Waits until some statements of this database wait for row locks. */
  async function untilLockWaits(statements: number): Promise<void> {
    const direct = await directConnection(db.name)
    const waiting = async () => {
      const [rows] = await direct.query(
        `SELECT COUNT(*) AS n FROM information_schema.INNODB_TRX JOIN information_schema.PROCESSLIST ON ID = trx_mysql_thread_id
         WHERE trx_state = 'LOCK WAIT' AND DB = ?`,
        [db.name],
      )
      return Number((rows as { n: number }[])[0]!.n)
    }
    try {
      // Not a poll of `expect`, which moves the clock. The servers refresh the table only if it was not read for 100 ms.
      while ((await waiting()) !== statements) await direct.query('DO SLEEP(0.2)')
    } finally {
      await direct.end()
    }
  }

  it('is ended: its locks are released, and its COMMIT fails without writing anything', async () => {
    const session = await db.begin(add(1, 5))
    const waiting = db.client.execute(add(1, 1))
    await untilLockWaits(1)
    vi.advanceTimersByTime(LIMIT_MS - 1)
    expect((await db.execute('SELECT count FROM counters WHERE id = 1', session)).body.error).toBeUndefined()
    vi.advanceTimersByTime(1)
    await waiting
    for (const sql of ['SELECT count FROM counters', 'COMMIT', 'COMMIT']) {
      const { status, body } = await db.execute(sql, session)
      expect({ status, code: body.error?.code }).toEqual({ status: 200, code: 'ABORTED' })
      expect(body.error?.message).toMatch(TOO_OLD)
      expect(body.session!.vitessSession).not.toHaveProperty('inTransaction')
    }
    expect(await countOf(db, 1)).toBe('1')
  })

  it('fails through the driver, whose ROLLBACK causes no further error', async () => {
    const failed = db.client.transaction(async (transaction) => {
      await transaction.execute(add(1, 5))
      const waiting = db.client.execute(add(1, 1))
      await untilLockWaits(1)
      vi.advanceTimersByTime(LIMIT_MS)
      await waiting
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
    const interrupted = db.execute(add(2, 5), session)
    await untilLockWaits(1)
    vi.advanceTimersByTime(LIMIT_MS)
    const { body } = await interrupted
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
    const { session } = (await db.execute('BEGIN')).body
    await db.behave({ faults: [{ action: 'cut-answer', match: 'UPDATE' }] })
    await rejection(db.execute(add(1, 5), session))
    await db.execute('ROLLBACK', session)
    const waiting = db.client.execute(add(1, 1))
    await untilLockWaits(1)
    vi.advanceTimersByTime(LIMIT_MS)
    await waiting
    expect(await countOf(db, 1)).toBe('1')
  })
})
