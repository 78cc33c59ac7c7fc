import { Client, UnknownError } from '@planetscale/database'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Behaviour, Fault } from '../../../local/planetscale/fault-injection.ts'
import { add, countersDatabase, type EndpointDatabase, emptyDatabase, rejection, sumOf } from './endpoint-database.ts'

let db: EndpointDatabase
beforeEach(async () => {
  db = await countersDatabase()
})

describe('The fault', () => {
  /** Sends a statement that hangs. Returns its end, and how to give up. */
  const hanging = (sql: string) => {
    const patience = new AbortController()
    const client = new Client({
      url: db.url,
      fetch: (input, init) => fetch(input, { ...init, signal: patience.signal }),
    })
    let isAnswered = false
    const ended = rejection(client.execute(sql)).finally(() => {
      isAnswered = true
    })
    return {
      isAnswered: () => isAnswered,
      async giveUp() {
        patience.abort()
        return ended
      },
    }
  }
  /** Whether the fault has hit its statement. */
  const isUsedUp = async () => {
    const { body } = await db.send('/local/behaviour', { method: 'GET' })
    return (body as unknown as Behaviour).faults[0]!.times === 0
  }

  it.each([
    ['cut-request', 'without running the statement', ['0', '1']],
    ['cut-answer', 'after running the statement', ['1', '2']],
  ] as const)('%s cuts the connection %s', async (action, _, [after, afterNext]) => {
    await db.behave({ faults: [{ action, match: 'UPDATE' }] })
    expect(await rejection(db.client.execute(add(1)))).toBeInstanceOf(TypeError)
    expect(await sumOf(db)).toBe(after)
    await db.client.execute(add(1))
    expect(await sumOf(db)).toBe(afterNext)
  })

  it('cut-answer at a COMMIT commits the transaction, although its session does not show it', async () => {
    await db.behave({ faults: [{ action: 'cut-answer', match: '^COMMIT$' }] })
    const session = await db.begin(add(1))
    await rejection(db.execute('COMMIT', session))
    expect(await sumOf(db)).toBe('1')
    expect((await db.execute('COMMIT', session)).body.error?.code).toBe('ABORTED')
  })

  it('hang-request never answers and does not run the statement', async () => {
    await db.behave({ faults: [{ action: 'hang-request', match: 'UPDATE' }] })
    const { isAnswered, giveUp } = hanging(add(1))
    await expect.poll(isUsedUp).toBe(true)
    // Later statements are answered.
    expect(await sumOf(db)).toBe('0')
    expect(isAnswered()).toBe(false)
    expect(await giveUp()).toMatchObject({ name: 'AbortError' })
    expect(await sumOf(db)).toBe('0')
  })

  it('hang-answer runs the statement and never answers', async () => {
    await db.behave({ faults: [{ action: 'hang-answer', match: 'UPDATE' }] })
    const { isAnswered, giveUp } = hanging(add(1))
    await expect.poll(() => sumOf(db)).toBe('1')
    // Later statements are answered.
    expect(await sumOf(db)).toBe('1')
    expect(isAnswered()).toBe(false)
    expect(await giveUp()).toMatchObject({ name: 'AbortError' })
  })

  it.each([
    [1213, 'ABORTED', 'Aborted'],
    [1062, 'ALREADY_EXISTS', 'AlreadyExists'],
    [1205, 'DEADLINE_EXCEEDED', 'DeadlineExceeded'],
    [1264, 'FAILED_PRECONDITION', 'FailedPrecondition'],
    [1290, 'CLUSTER_EVENT', 'Code(17)'],
    [2006, 'UNAVAILABLE', 'Unavailable'],
    [2013, 'CANCELED', 'Canceled'],
    [1203, 'RESOURCE_EXHAUSTED', 'ResourceExhausted'],
    [undefined, 'UNKNOWN', 'Unknown'],
  ])('error with errno %s has the code %s, and does not run the statement', async (errno, code, grpc) => {
    await db.behave({ faults: [{ action: 'error', match: 'UPDATE', ...(errno !== undefined && { errno }) }] })
    const { status, body } = await db.execute(add(1))
    expect(status).toBe(200)
    expect(body.error?.code).toBe(code)
    expect(body.error?.message).toContain(`target: ${db.name}.-.primary: vttablet: rpc error: code = ${grpc} desc = `)
    expect(body.error?.message).toContain(`(errno ${errno ?? 1105})`)
    expect(await sumOf(db)).toBe('0')
  })

  it('error in a transaction leaves it open, unless Vitess ends it at that error', async () => {
    const inside = async (fault: Fault) => {
      const session = await db.begin(add(1))
      await db.behave({ faults: [fault] })
      const failed = await db.execute(fault.match === 'COMMIT' ? 'COMMIT' : add(2), session)
      expect(failed.body.error?.message).toContain(`(errno ${fault.errno})`)
      return { session, after: failed.body.session! }
    }
    const open = await inside({ action: 'error', errno: 1105 })
    expect(open.after).toEqual(open.session)
    await db.execute('COMMIT', open.after)
    expect(await sumOf(db)).toBe('1')
    for (const fault of [{ errno: 1213 }, { errno: 1105, match: 'COMMIT' }]) {
      const { session, after } = await inside({ action: 'error', ...fault })
      expect(after.vitessSession).not.toHaveProperty('inTransaction')
      expect(after.vitessSession.SessionUUID).toBe(session.vitessSession.SessionUUID)
      // The rollback has released the lock on the row.
      await db.client.execute(add(1))
      expect((await db.execute('COMMIT', session)).body.error?.code).toBe('ABORTED')
    }
    expect(await sumOf(db)).toBe('3')
  })

  it.each([undefined, 503, 522, 200])(
    'html with status %s returns the page of a proxy, and does not run the statement',
    async (status) => {
      await db.behave({ faults: [{ action: 'html', match: 'UPDATE', ...(status !== undefined && { status }) }] })
      const error = await rejection(db.client.execute(add(1)))
      if (status === 200) {
        expect(error).toBeInstanceOf(SyntaxError)
      } else {
        expect(error).toBeInstanceOf(UnknownError)
        expect(error).toMatchObject({ status: status ?? 502, context: { body: expect.stringContaining('<h1>') } })
        expect((error as UnknownError).context.headers).toMatchObject({ 'content-type': 'text/html' })
      }
      expect(await sumOf(db)).toBe('0')
    },
  )

  const hits = async (faults: Fault[], statements: string[]) => {
    await db.behave({ faults })
    const outcomes: number[] = []
    for (const sql of statements) {
      const { body } = await db.execute(sql)
      outcomes.push(Number(/\(errno (\d+)\)/.exec(body.error?.message ?? '')?.[1] ?? 0))
    }
    return outcomes
  }

  it('affects only matching statements, in upper or lower case and across lines', async () => {
    const faults: Fault[] = [{ action: 'error', errno: 1105, match: 'update\\s+counters.*id = [12]', times: 9 }]
    const other = await emptyDatabase()
    expect(
      await hits(faults, [add(1), add(3), 'SELECT 1', add(2), `UPDATE\ncounters SET count = 1 WHERE id = 1`]),
    ).toEqual([1105, 0, 0, 1105, 1105])
    expect((await other.execute('SELECT 1 AS `update counters id = 1`')).body.error).toBeUndefined()
  })

  it('skips and affects given numbers of matching statements', async () => {
    const faults: Fault[] = [{ action: 'error', errno: 1105, match: 'UPDATE', skip: 2, times: 2 }]
    const statements = [add(1), 'SELECT 1', add(1), 'SELECT 1', add(1), 'SELECT 1', add(1), add(1)]
    expect(await hits(faults, statements)).toEqual([0, 0, 0, 0, 1105, 0, 1105, 0])
    expect(await sumOf(db)).toBe('3')
  })

  it('affects one statement of any kind by default', async () => {
    expect(await hits([{ action: 'error' }], ['SELECT 1', 'SELECT 1'])).toEqual([1105, 0])
  })

  it('takes effect when another one is used up', async () => {
    const faults: Fault[] = [
      { action: 'error', errno: 1290, match: 'UPDATE' },
      { action: 'error', errno: 1205, times: 2 },
    ]
    expect(await hits(faults, ['SELECT 1', add(1), add(1), add(1)])).toEqual([1205, 1290, 1205, 0])
  })
})
