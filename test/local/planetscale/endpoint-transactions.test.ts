import { type Connection, connect } from '@planetscale/database'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  add,
  countersDatabase,
  countOf,
  directConnection,
  type EndpointDatabase,
  rejection,
  sumOf,
} from './endpoint-database.ts'

const connectionId = async (connection: Pick<Connection, 'execute'>) =>
  Object.values((await connection.execute('SELECT CONNECTION_ID() AS id')).rows[0]!)[0] as string

/** Waits until the server reports that a statement waits for a row lock. No other test may use the same statement. */
async function untilLockWait(db: EndpointDatabase, sql: string): Promise<void> {
  // Both servers report the statement of a waiting transaction.
  await expect
    .poll(
      () =>
        db.value(
          `SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT' AND trx_query = '${sql}'`,
        ),
      // The servers refresh this table only if it was not read for 100 ms.
      { interval: 300 },
    )
    .toBe('1')
}

describe('A transaction', () => {
  let db: EndpointDatabase
  beforeEach(async () => {
    db = await countersDatabase()
  })

  /** A connection with a transaction. */
  const begun = async () => {
    const connection = connect({ url: db.url })
    await connection.execute('BEGIN')
    return connection
  }
  const counts = async () => [await countOf(db, 1), await countOf(db, 2)]

  it('has its own connection from BEGIN to COMMIT', async () => {
    const [one, other] = [await begun(), await begun()]
    const id = await connectionId(one)
    const otherId = await connectionId(other)
    expect(otherId).not.toBe(id)
    for (let times = 0; times < 3; times++) {
      expect(await connectionId(one)).toBe(id)
      const passing = await Promise.all(Array.from({ length: 5 }, () => connectionId(db.client)))
      expect(passing).not.toContain(id)
      expect(passing).not.toContain(otherId)
      expect(await connectionId(other)).toBe(otherId)
    }
    await one.execute('COMMIT')
    await other.execute('ROLLBACK')
  })

  it('hides its writes from others until COMMIT', async () => {
    const seen: unknown[] = []
    await db.client.transaction(async (transaction) => {
      await transaction.execute(add(1, 5))
      const { rows } = await transaction.execute('SELECT count FROM counters WHERE id = 1')
      seen.push((rows as { count: unknown }[])[0]!.count, await countOf(db, 1))
    })
    expect([...seen, await countOf(db, 1)]).toEqual(['5', '0', '5'])
  })

  it('is undone by ROLLBACK, which the driver sends after an error', async () => {
    const failed = db.client.transaction(async (transaction) => {
      await transaction.execute(add(1, 5))
      await transaction.execute('INSERT INTO counters VALUES (11, 1)')
      throw new Error('changed its mind')
    })
    await expect(failed).rejects.toThrow('changed its mind')
    expect(await sumOf(db)).toBe('0')
    // And no lock is left.
    expect((await db.client.execute('UPDATE counters SET count = 1')).rowsAffected).toBe(10)
  })

  it('appears in the session only while it is open', async () => {
    const begun = (await db.execute('BEGIN')).body.session!
    expect(begun.vitessSession.inTransaction).toBe(true)
    expect(begun.vitessSession).not.toHaveProperty('shardSessions')
    const used = (await db.execute(add(1, 1), begun)).body.session!
    expect(used.vitessSession).toMatchObject({
      inTransaction: true,
      shardSessions: [
        { target: { keyspace: db.name, shard: '-', tabletType: 'PRIMARY' }, transactionId: expect.stringMatching(/./) },
      ],
    })
    expect((await db.execute(add(2, 0), used)).body.session).toEqual(used)
    const ended = (await db.execute('COMMIT', used)).body.session!
    expect(ended.vitessSession.SessionUUID).toBe(begun.vitessSession.SessionUUID)
    expect(ended.vitessSession).not.toHaveProperty('inTransaction')
    expect(ended.vitessSession).not.toHaveProperty('shardSessions')
    expect(await countOf(db, 1)).toBe('1')
  })

  it.each([
    ['begin', 'commit'],
    ['START TRANSACTION', 'COMMIT;'],
    ['/* why */ BEGIN', '/* why */ COMMIT'],
    ['-- why\n# not\nstart  transaction', '--\n# not\n  COMMIT WORK'],
  ])('begins with %j and ends with %j', async (begin, commit) => {
    const connection = connect({ url: db.url })
    await connection.execute(begin)
    await connection.execute(add(1, 1))
    expect(await countOf(db, 1)).toBe('0')
    await connection.execute(commit)
    expect(await countOf(db, 1)).toBe('1')
    await connection.execute(add(1, 1))
    expect(await countOf(db, 1)).toBe('2')
  })

  it('stays open after an error, with its earlier writes', async () => {
    const connection = await begun()
    const id = await connectionId(connection)
    await connection.execute(add(1, 1))
    for (const sql of ['INSERT INTO counters VALUES (1, 1)', 'SELECT nonsense', 'SELEKT']) {
      await rejection(connection.execute(sql))
      expect(await connectionId(connection)).toBe(id)
    }
    await connection.execute(add(2, 1))
    expect(await countOf(db, 1)).toBe('0')
    await connection.execute('COMMIT')
    expect(await sumOf(db)).toBe('2')
  })

  it('does not exist on the server before its first statement', async () => {
    const { session } = (await db.execute('BEGIN')).body
    await db.client.execute(add(1, 1))
    // A snapshot of BEGIN would not have it.
    const read = await db.execute('SELECT count FROM counters WHERE id = 1', session)
    expect(read.body.result?.rows).toEqual([{ lengths: ['1'], values: btoa('1') }])
    expect((await db.execute('COMMIT', read.body.session)).body.error).toBeUndefined()
  })

  it.each(['COMMIT', 'ROLLBACK', 'BEGIN'])('without a statement can be ended with %s', async (sql) => {
    const { session } = (await db.execute('BEGIN')).body
    const { body } = await db.execute(sql, session)
    expect(body.error).toBeUndefined()
    expect(body.session!.vitessSession.inTransaction).toBe(sql === 'BEGIN' ? true : undefined)
    expect(body.session!.vitessSession).not.toHaveProperty('shardSessions')
  })

  it('has its id in the session after a first statement that failed', async () => {
    const session = await db.begin('SELECT nonsense FROM counters')
    await db.execute(add(1, 1), session)
    expect(await countOf(db, 1)).toBe('0')
    await db.execute('COMMIT', session)
    expect(await countOf(db, 1)).toBe('1')
  })

  it.each(['cut-answer', 'hang-answer'] as const)(
    'keeps its locks in spite of ROLLBACK if the answer to its first statement was lost (%s)',
    async (action) => {
      const { session } = (await db.execute('BEGIN')).body
      await db.behave({ faults: [{ action, match: 'UPDATE' }] })
      const lost = db.execute(add(1, 1), session)
      lost.catch(() => {})
      const locked = () => db.execute('SELECT id FROM counters WHERE id = 1 FOR UPDATE NOWAIT')
      await expect.poll(async () => (await locked()).body.error?.code).toBeDefined()
      expect((await db.execute('ROLLBACK', session)).body.error).toBeUndefined()
      expect((await locked()).body.error?.message).toMatch(/\(errno (1205|3572)\)/)
    },
  )

  it('that is not open can be committed and rolled back without effect', async () => {
    for (const sql of ['COMMIT', 'ROLLBACK']) expect(await db.client.execute(sql)).toMatchObject({ rowsAffected: 0 })
  })

  it('that has ended cannot be used again', async () => {
    const session = await db.begin(add(2, 0))
    await db.execute('COMMIT', session)
    for (const sql of [add(1, 1), 'COMMIT', 'ROLLBACK']) {
      const { status, body } = await db.execute(sql, session)
      expect(status).toBe(200)
      expect(body.error).toMatchObject({ code: 'ABORTED', message: expect.stringMatching(/: not found \(CallerID/) })
      expect(body.session!.vitessSession).not.toHaveProperty('inTransaction')
    }
    expect(await countOf(db, 1)).toBe('0')
  })

  it('refuses a second statement while one runs, even COMMIT and ROLLBACK', async () => {
    const holder = await begun()
    await holder.execute(add(1, 100))
    const session = await db.begin(add(2, 1))
    const waiting = `${add(1, 1)} /* ${db.name} */`
    const first = db.execute(waiting, session)
    await untilLockWait(db, waiting)
    for (const sql of [add(2, 10), 'COMMIT', 'ROLLBACK', 'BEGIN']) {
      const { status, body } = await db.execute(sql, session)
      expect({ sql, status, code: body.error?.code }).toEqual({ sql, status: 200, code: 'ABORTED' })
      expect(body.error?.message).toMatch(/code = Aborted desc = transaction \S+: in use: for \w+ \(CallerID/)
    }
    await holder.execute('COMMIT')
    expect((await first).body.result).toEqual({ rowsAffected: '1' })
    await db.execute('COMMIT', session)
    expect(await counts()).toEqual(['101', '1'])
  })

  it('is over as the victim of a deadlock, while the other one continues', async () => {
    const sessions = await Promise.all([1, 2].map((id) => db.begin(add(id, 1))))
    const crossed = await Promise.all(sessions.map((session, index) => db.execute(add(2 - index, 10), session)))
    const victims = crossed.filter(({ body }) => body.error)
    expect(victims).toHaveLength(1)
    const { error, session } = victims[0]!.body
    expect(error?.code).toBe('ABORTED')
    expect(error?.message).toMatch(/code = Aborted desc = Deadlock .*\(errno 1213\) \(sqlstate 40001\)/)
    expect(session!.vitessSession).not.toHaveProperty('inTransaction')
    const loser = crossed.indexOf(victims[0]!)
    const [gone, open] = [sessions[loser]!, sessions[1 - loser]!]
    expect((await db.execute('COMMIT', gone)).body.error?.code).toBe('ABORTED')
    expect((await db.execute('COMMIT', open)).body.error).toBeUndefined()
    expect(await sumOf(db)).toBe('11')
  })

  it('is rolled back as soon as a result is too large, as in vtgate', async () => {
    await db.client.execute('CREATE TABLE digits (d INT PRIMARY KEY)')
    await db.client.execute('INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)')
    const session = await db.begin(add(1, 1))
    const sql = 'SELECT a.d FROM digits a, digits b, digits c, digits d, digits e, digits f'
    const { body } = await db.execute(sql, session)
    expect(body.error?.code).toBe('ABORTED')
    expect(body.session!.vitessSession).not.toHaveProperty('inTransaction')
    // No lock is left to wait for.
    await db.client.execute(add(1, 10))
    expect(await countOf(db, 1)).toBe('10')
    expect((await db.execute('COMMIT', session)).body.error?.code).toBe('ABORTED')
  })
})

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
