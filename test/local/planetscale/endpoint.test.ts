import { connect as connectSocket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Client, connect } from '@planetscale/database'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type EndpointDatabase,
  EXECUTE,
  emptyDatabase,
  ownEndpoint,
  rejection,
  thingsDatabase,
} from './endpoint-database.ts'

let db: EndpointDatabase
beforeAll(async () => {
  db = await thingsDatabase()
})

describe('A response', () => {
  it('to a SELECT has the session, the fields, and each row as lengths and base64', async () => {
    const { status, headers, body } = await db.execute('SELECT id, name FROM things ORDER BY id')
    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toBe('application/json')
    expect(Object.keys(body).sort()).toEqual(['result', 'session', 'timing'])
    expect(body.session).toEqual({
      signature: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
      vitessSession: {
        autocommit: true,
        options: { includedFields: 'ALL', clientFoundRows: true },
        SessionUUID: expect.stringMatching(/^[0-9a-f-]{36}$/),
        DDLStrategy: 'direct',
        enableSystemSettings: true,
      },
    })
    expect(body.result?.fields).toEqual([
      expect.objectContaining({
        name: 'id',
        type: 'INT64',
        table: 'things',
        orgTable: 'things',
        database: db.name,
        orgName: 'id',
        columnLength: 20,
        charset: 63,
        flags: expect.any(Number),
      }),
      expect.objectContaining({ name: 'name', type: 'VARCHAR', columnLength: 200 }),
    ])
    expect(body.result?.rows).toEqual([
      { lengths: ['1', '3'], values: btoa('1one') },
      { lengths: ['1', '-1'], values: btoa('2') },
      { lengths: ['1', '0'], values: btoa('3') },
    ])
    expect(body.timing).toBeGreaterThan(0)
  })

  it('leaves out zero and empty values, as protobuf JSON does', async () => {
    const nothing = await db.execute('SELECT id FROM things WHERE id = 99')
    expect(Object.keys(nothing.body.result!)).toEqual(['fields'])
    expect(Object.keys(nothing.body.result!.fields![0]!)).not.toContain('decimals')
    expect((await db.execute('UPDATE things SET name = 1 WHERE id = 99')).body.result).toEqual({})
    expect((await db.execute(`SELECT '' AS a, NULL AS b`)).body.result?.rows).toEqual([{ lengths: ['0', '-1'] }])
    const expression = (await db.execute('SELECT NULL AS v')).body.result!.fields![0]!
    for (const key of ['type', 'table', 'orgTable', 'database', 'orgName']) expect(expression).not.toHaveProperty(key)
  })

  it('to a write has the number of rows as a string', async () => {
    const { body } = await db.execute(`UPDATE things SET name = 'x' WHERE id = 1`)
    expect(body.result).toEqual({ rowsAffected: '1' })
  })

  it('can be read by the driver as objects and as arrays', async () => {
    const objects = await db.client.execute('SELECT id, name FROM things WHERE id = ?', [2])
    expect(objects).toMatchObject({
      headers: ['id', 'name'],
      types: { id: 'INT64', name: 'VARCHAR' },
      rows: [{ id: '2', name: null }],
      size: 1,
      rowsAffected: 0,
      insertId: '0',
    })
    expect(objects.time).toBeGreaterThan(0)
    expect((await db.client.execute('SELECT id, name FROM things WHERE id = 2', null, { as: 'array' })).rows).toEqual([
      ['2', null],
    ])
  })

  it('to several statements at once is an error', async () => {
    const { body } = await db.execute('SELECT 1; DELETE FROM things')
    expect(body.error?.message).toContain('(errno 1064)')
    expect(await db.value('SELECT COUNT(*) FROM things')).toBe('3')
  })
})

describe('A session', () => {
  it('is created by the driver and sent with every statement', async () => {
    const sent: { path: string; session: unknown }[] = []
    const connection = connect({
      url: db.url,
      fetch: (input, init) => {
        sent.push({ path: new URL(input).pathname, session: JSON.parse(init!.body).session })
        return fetch(input, init)
      },
    })
    await connection.refresh()
    await connection.execute('SELECT id FROM things')
    await connection.execute('SELECT id FROM things')
    expect(sent.map(({ path }) => path.split('/').at(-1))).toEqual(['CreateSession', 'Execute', 'Execute'])
    expect(sent[0]!.session).toBeUndefined()
    expect(sent[1]!.session).toMatchObject({ vitessSession: { SessionUUID: expect.any(String) } })
    expect(sent[2]!.session).toEqual(sent[1]!.session)
  })

  it('is created with the name of the branch and the user', async () => {
    const { status, body } = await db.send('/psdb.v1alpha1.Database/CreateSession', { body: '{}' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ branch: 'main', user: { username: db.name } })
    expect((await db.execute('SELECT id FROM things', body.session)).body.session).toEqual(body.session)
  })

  it('is new for every statement without one', async () => {
    const [one, other] = [await db.execute('SELECT id FROM things'), await db.execute('SELECT id FROM things')]
    expect(one.body.session!.vitessSession.SessionUUID).not.toBe(other.body.session!.vitessSession.SessionUUID)
  })

  it('that was forged or altered is refused', async () => {
    const { vitessSession, signature } = await db.begin('SELECT id FROM things')
    const shards = vitessSession.shardSessions!
    const other = await emptyDatabase()
    const forged: unknown[] = [
      {
        signature: `${signature.slice(0, 10)}${signature[10] === 'x' ? 'y' : 'x'}${signature.slice(11)}`,
        vitessSession,
      },
      { signature: '', vitessSession },
      { vitessSession },
      { signature },
      { signature, vitessSession: { ...vitessSession, SessionUUID: 'another' } },
      { signature, vitessSession: { ...vitessSession, inTransaction: false } },
      { signature, vitessSession: { ...vitessSession, shardSessions: [] } },
      { signature, vitessSession: { ...vitessSession, shardSessions: [{ ...shards[0], transactionId: 'another' }] } },
      (await other.execute('BEGIN')).body.session,
      {},
      'session',
      7,
    ]
    for (const session of forged) {
      const body = JSON.stringify({ query: 'DELETE FROM things', session })
      const answer = await db.send(EXECUTE, { body })
      expect({ session, status: answer.status, code: answer.body.error?.code }).toEqual({
        session,
        status: 400,
        code: 'INVALID_ARGUMENT',
      })
    }
    expect(await db.value('SELECT COUNT(*) FROM things')).toBe('3')
  })
})

describe('The endpoint', () => {
  const reachable = (host: string, port: number) =>
    new Promise<boolean>((resolve) => {
      const socket = connectSocket({ host, port, timeout: 5_000 })
      const done = (answer: boolean) => {
        socket.destroy()
        resolve(answer)
      }
      socket.once('connect', () => done(true))
      socket.once('error', () => done(false))
      socket.once('timeout', () => done(false))
    })

  it('listens on 127.0.0.1 and on no other address of the machine', async () => {
    const { port } = await ownEndpoint('test')
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
    const others = addresses.map(({ address, scopeid }) => (scopeid ? `${address}%${scopeid}` : address))
    expect(await reachable('127.0.0.1', port)).toBe(true)
    for (const host of new Set([...others, '127.0.0.2', '::1'])) {
      if (host !== '127.0.0.1')
        expect({ host, reachable: await reachable(host, port) }).toEqual({ host, reachable: false })
    }
  })

  it('cannot be reached after it is closed, even with requests in progress', async () => {
    const endpoint = await ownEndpoint('test')
    const own = await emptyDatabase(endpoint)
    await own.client.execute('CREATE TABLE t (id INT PRIMARY KEY)')
    const connection = connect({ url: own.url })
    await connection.execute('BEGIN')
    await connection.execute('INSERT INTO t VALUES (1)')
    await own.behave({ faults: [{ action: 'hang-request' }] })
    const hanging = rejection(own.client.execute('SELECT 1'))
    await endpoint.close()
    await hanging
    expect(await reachable('127.0.0.1', Number(new URL(own.url).port))).toBe(false)
    // The open transaction is rolled back: the same row can be inserted through another endpoint.
    const url = new URL(db.url)
    url.username = own.name
    const { rowsAffected } = await new Client({ url: url.href }).execute('INSERT INTO t VALUES (1)')
    expect(rowsAffected).toBe(1)
  })
})
