import type { Connection } from 'mysql2/promise'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Behaviour } from '../../../local/planetscale/fault-injection.ts'
import {
  add,
  countersDatabase,
  countOf,
  directConnection,
  type EndpointDatabase,
  emptyDatabase,
  type RawSession,
} from './endpoint-database.ts'

// Each read that runs has a different connection id.
const SLOW = 'SELECT CONNECTION_ID() FROM gate WHERE id = 1'
const DISABLED = '/*vt+ CONSOLIDATOR=disabled */'

let db: EndpointDatabase
let direct: Connection
beforeEach(async () => {
  db = await countersDatabase()
  await db.client.execute('CREATE TABLE gate (id INT PRIMARY KEY)')
  await db.client.execute('INSERT INTO gate VALUES (1), (2)')
  direct = await directConnection(db.name)
  return () => direct.end()
})

/** Runs statements at the same time. Returns the number of connections that ran them. */
async function connections(statements: string[], sessions: (RawSession | null)[] = []): Promise<number> {
  // No read ends before the endpoint has all of them. A fault that hits none of them counts them.
  const skip = 1_000
  await db.behave({ faults: [{ action: 'error', match: 'CONNECTION_ID', skip }] })
  await direct.query('LOCK TABLES gate WRITE')
  const reads = statements.map((sql, index) => db.execute(sql, sessions[index] ?? null))
  const left = async () => {
    const { body } = await db.send('/local/behaviour', { method: 'GET' })
    return (body as unknown as Behaviour).faults[0]?.skip
  }
  await expect.poll(left).toBe(skip - statements.length)
  await direct.query('UNLOCK TABLES')
  const answers = await Promise.all(reads)
  return new Set(answers.map(({ body }) => body.result!.rows![0]!.values)).size
}

describe('Identical reads outside transactions', () => {
  it.each([
    ['', SLOW, SLOW],
    ['with other comments before and after them', `/* a */ ${SLOW}`, `${SLOW} -- b\n /* c */ ;`],
    ['with the directive before the statement', `${DISABLED}${SLOW}`, `${DISABLED}${SLOW}`],
    [
      'with the directive in the second SELECT',
      `${SLOW} UNION SELECT ${DISABLED} 1`,
      `${SLOW} UNION SELECT ${DISABLED} 1`,
    ],
    ['that lock rows', `${SLOW} FOR UPDATE`, `${SLOW} FOR UPDATE`],
  ])('share one result %s', async (_name, one, other) => {
    expect(await connections([one, other])).toBe(1)
  })

  const disabled = SLOW.replace('SELECT', `select ${DISABLED}`)
  it.each([
    ['that differ in a literal', SLOW, SLOW.replace('id = 1', 'id = 2')],
    ['that differ in a comment after SELECT', SLOW, SLOW.replace('SELECT', 'SELECT /* a */')],
    ['with the directive after SELECT', disabled, disabled],
    ['with the directive in the first SELECT of a UNION', `${disabled} UNION SELECT 1`, `${disabled} UNION SELECT 1`],
    ['with the directive in parentheses', `(${disabled}) UNION (SELECT 1)`, `(${disabled}) UNION (SELECT 1)`],
  ])('do not share one %s', async (_name, one, other) => {
    expect(await connections([one, other])).toBe(2)
  })

  it('return an older snapshot than their own', async () => {
    // Reads the row and then waits for a lock that the test holds.
    const read = `SELECT count, GET_LOCK('${db.name}', 60) FROM counters WHERE id = 1`
    await direct.query('SELECT GET_LOCK(?, 0)', [db.name])
    const slow = db.execute(read)
    const waiting = `SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User lock' AND DB = '${db.name}'`
    await expect.poll(() => db.value(waiting)).toBe('1')
    await db.client.execute(add(1))
    await db.behave({ faults: [{ action: 'error', match: 'GET_LOCK', skip: 1 }] })
    const later = db.execute(read)
    await expect
      .poll(async () => (await db.send('/local/behaviour', { method: 'GET' })).body)
      .toMatchObject({ faults: [{ skip: 0 }] })
    await direct.query('SELECT RELEASE_LOCK(?)', [db.name])
    const { body } = await later
    expect(body.result).toEqual((await slow).body.result)
    expect(body.result!.rows![0]).toEqual({ lengths: ['1', '1'], values: btoa('01') })
    expect(await countOf(db, 1)).toBe('1')
  })

  it('of different databases share nothing', async () => {
    const other = await emptyDatabase()
    await db.client.execute('CREATE TABLE mine (id INT)')
    const [mine, theirs] = await Promise.all([db, other].map(({ execute }) => execute('SELECT id FROM mine')))
    expect([mine!.body.error?.code, theirs!.body.error?.code]).toEqual([undefined, 'NOT_FOUND'])
  })
})

it('Reads in transactions are not consolidated', async () => {
  const sessions = await Promise.all([1, 2].map(() => db.begin('SELECT id FROM counters')))
  expect(await connections([SLOW, SLOW, SLOW], sessions)).toBe(3)
})
