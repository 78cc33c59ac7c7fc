import { beforeEach, describe, expect, it } from 'vitest'
import { add, countersDatabase, type EndpointDatabase, emptyDatabase, type RawSession } from './endpoint-database.ts'

// Each read takes 1 s and counts the connections that run one: every read that runs has a connection id of its own.
const SLOW = 'SELECT SLEEP(1), CONNECTION_ID() FROM counters WHERE id = 1'
const DISABLED = '/*vt+ CONSOLIDATOR=disabled */'

let db: EndpointDatabase
beforeEach(async () => {
  db = await countersDatabase()
})

/** Runs statements at the same time. Returns the connections that ran them. */
async function connections(statements: string[], sessions: (RawSession | null)[] = []): Promise<number> {
  const answers = await Promise.all(statements.map((sql, index) => db.execute(sql, sessions[index] ?? null)))
  return new Set(answers.map(({ body }) => body.result!.rows![0]!.values)).size
}

describe('Identical reads outside transactions', () => {
  it.each([
    ['', SLOW, SLOW],
    ['with other comments before and after them', `/* a */ ${SLOW}`, `${SLOW} -- b\n /* c */ ;`],
    ['with the directive before the statement', `${DISABLED}${SLOW}`, `${DISABLED}${SLOW}`],
    [
      'with the directive in the second SELECT',
      `${SLOW} UNION SELECT ${DISABLED} 1, 2`,
      `${SLOW} UNION SELECT ${DISABLED} 1, 2`,
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
    [
      'with the directive in the first SELECT of a UNION',
      `${disabled} UNION SELECT 1, 2`,
      `${disabled} UNION SELECT 1, 2`,
    ],
    ['with the directive in parentheses', `(${disabled}) UNION (SELECT 1, 2)`, `(${disabled}) UNION (SELECT 1, 2)`],
  ])('do not share one %s', async (_name, one, other) => {
    expect(await connections([one, other])).toBe(2)
  })

  it('return an older snapshot than their own', async () => {
    const read = 'SELECT count, SLEEP(1) FROM counters WHERE id = 1'
    const slow = db.execute(read)
    await expect
      .poll(() =>
        db.value(`SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO = '${read}' AND DB = '${db.name}'`),
      )
      .toBe('1')
    await db.client.execute(add(1))
    const later = await db.execute(read)
    expect(later.body.result).toEqual((await slow).body.result)
    expect(later.body.result!.rows![0]).toEqual({ lengths: ['1', '1'], values: btoa('00') })
    expect(await db.value(read.replace(', SLEEP(1)', ''))).toBe('1')
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
