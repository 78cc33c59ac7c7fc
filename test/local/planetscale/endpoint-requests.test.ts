import { Client, DatabaseError } from '@planetscale/database'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type EndpointDatabase,
  EXECUTE,
  emptyDatabase,
  ownEndpoint,
  rejection,
  thingsDatabase,
} from './endpoint-database.ts'

const CREATE_SESSION = EXECUTE.replace('Execute', 'CreateSession')
let db: EndpointDatabase
beforeAll(async () => {
  db = await thingsDatabase()
})

describe('Basic auth', () => {
  const good = () => `${db.name}:test`
  const refused: [string, () => string | null][] = [
    ['is missing', () => null],
    ['is empty', () => ''],
    ['has a wrong password', () => `Basic ${btoa(`${db.name}:wrong`)}`],
    ['has an empty password', () => `Basic ${btoa(`${db.name}:`)}`],
    ['has a password in the wrong case', () => `Basic ${btoa(`${db.name}:TEST`)}`],
    ['has no colon', () => `Basic ${btoa(db.name)}`],
    ['has no user', () => `Basic ${btoa(':test')}`],
    ['uses another scheme', () => `Bearer ${btoa(good())}`],
    ['has no scheme', () => btoa(good())],
    ['is not base64', () => 'Basic %%%%'],
    ['is base64 with an extra character', () => `Basic ${btoa(good())}!`],
    ['is not encoded', () => `Basic ${good()}`],
  ]
  it.each(refused)('that %s is answered with 401', async (_name, authorization) => {
    const value = authorization()
    const headers = new Headers({ 'Content-Type': 'application/json' })
    if (value !== null) headers.set('Authorization', value)
    for (const path of [EXECUTE, CREATE_SESSION, '/local/behaviour', '/nowhere']) {
      const answer = await db.send(path, { headers, body: JSON.stringify({ query: 'DELETE FROM things' }) })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Basic /)
      expect(answer.body).toEqual({ error: { code: 'UNAUTHENTICATED', message: expect.any(String) } })
    }
    expect(await db.value('SELECT COUNT(*) FROM things')).toBe('3')
  })

  it('accepts the scheme in upper and lower case', async () => {
    const headers = { Authorization: `bASIC ${btoa(good())}` }
    expect((await db.send(EXECUTE, { headers, body: '{"query":"SELECT 1"}' })).status).toBe(200)
  })

  it('with a wrong password makes the driver fail with UNAUTHENTICATED', async () => {
    const url = new URL(db.url)
    url.password = 'wrong'
    const error = await rejection(new Client({ url: url.href }).execute('SELECT 1'))
    expect(error).toBeInstanceOf(DatabaseError)
    expect(error).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } })
  })

  it.each(['p@ss:w/rd ?#%', 'a%20b', 'grüße 🎉'])('works with the password %s', async (password) => {
    const endpoint = await ownEndpoint(password)
    const own = await emptyDatabase(endpoint)
    expect(await own.value(`SELECT CAST(7 AS CHAR)`)).toBe('7')
    // The driver percent-encodes a password in a URL only.
    if (!/^[\x20-\x7e]*$/.test(password)) return
    const named = new Client({
      host: `127.0.0.1:${endpoint.port}`,
      username: own.name,
      password,
      fetch: (input, init) => fetch(input.replace('https:', 'http:'), init),
    })
    expect((await named.execute('SELECT CAST(7 AS CHAR) AS v')).rows).toEqual([{ v: '7' }])
    const wrong = new Client({ ...named.config, password: `${password}%20` })
    expect(await rejection(wrong.execute('SELECT 1'))).toMatchObject({ status: 401 })
  })

  it('for a database that does not exist fails with errno 1049 every time', async () => {
    const url = new URL(db.url)
    url.username = 'no_such_database'
    const client = new Client({ url: url.href })
    for (const sql of ['SELECT 1', 'DELETE FROM things', 'SELECT 1']) {
      const error = await rejection(client.execute(sql))
      expect(error).toBeInstanceOf(DatabaseError)
      expect(error).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENT' } })
      expect((error as Error).message).toContain('(errno 1049) (sqlstate 42000)')
    }
  })
})

describe('A bad request', () => {
  const query = JSON.stringify({ query: 'SELECT 1' })
  const bad: [string, string, RequestInit, number, string][] = [
    ['that is not JSON', EXECUTE, { body: 'query=SELECT 1' }, 400, 'INVALID_ARGUMENT'],
    ['that is truncated JSON', EXECUTE, { body: query.slice(0, -1) }, 400, 'INVALID_ARGUMENT'],
    ['that is a JSON array', EXECUTE, { body: `[${query}]` }, 400, 'INVALID_ARGUMENT'],
    ['that is a JSON string', EXECUTE, { body: '"SELECT 1"' }, 400, 'INVALID_ARGUMENT'],
    ['that is null', EXECUTE, { body: 'null' }, 400, 'INVALID_ARGUMENT'],
    ['without a body', EXECUTE, {}, 400, 'INVALID_ARGUMENT'],
    ['without a query', EXECUTE, { body: '{"session":null}' }, 400, 'INVALID_ARGUMENT'],
    ['with an empty query', EXECUTE, { body: '{"query":""}' }, 400, 'INVALID_ARGUMENT'],
    ['with a blank query', EXECUTE, { body: '{"query":" \\n "}' }, 400, 'INVALID_ARGUMENT'],
    ['with a query that is a number', EXECUTE, { body: '{"query":1}' }, 400, 'INVALID_ARGUMENT'],
    ['with a query that is an object', EXECUTE, { body: '{"query":{}}' }, 400, 'INVALID_ARGUMENT'],
    ['to create a session with an invalid body', CREATE_SESSION, { body: '{' }, 400, 'INVALID_ARGUMENT'],
    ['with GET', EXECUTE, { method: 'GET' }, 405, 'UNIMPLEMENTED'],
    ['with PUT', EXECUTE, { method: 'PUT', body: query }, 405, 'UNIMPLEMENTED'],
    ['with DELETE for a session', CREATE_SESSION, { method: 'DELETE' }, 405, 'UNIMPLEMENTED'],
    ['to another method of the API', EXECUTE.replace('Execute', 'StreamExecute'), { body: query }, 404, 'NOT_FOUND'],
    ['to the root', '/', { body: query }, 404, 'NOT_FOUND'],
    ['to a path that is too long', `${EXECUTE}/more`, { body: query }, 404, 'NOT_FOUND'],
  ]
  it.each(bad)('%s is answered in JSON, and so is the next request', async (_name, path, init, status, code) => {
    const answer = await db.send(path, init)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('Content-Type')).toBe('application/json')
    expect(answer.body).toEqual({ error: { code, message: expect.stringMatching(/./) } })
    expect(await db.value('SELECT COUNT(*) FROM things')).toBe('3')
  })

  it('that is too large is answered with 413; one of the largest size is not', async () => {
    const sized = (bytes: number) => {
      const frame = JSON.stringify({ query: `SELECT LENGTH('') AS v` })
      return frame.replace(`''`, `'${'x'.repeat(bytes - frame.length)}'`)
    }
    const limit = 16 * 1024 * 1024
    for (const bytes of [limit + 1, 3 * limit]) {
      const answer = await db.send(EXECUTE, { body: sized(bytes) })
      expect(answer).toMatchObject({ status: 413, body: { error: { code: 'RESOURCE_EXHAUSTED' } } })
      expect(await db.value('SELECT COUNT(*) FROM things')).toBe('3')
    }
    // The statement reaches the database server, which may refuse a packet of this size.
    const fits = await db.send(EXECUTE, { body: sized(limit) })
    expect(fits.status).toBe(200)
    const half = await db.send(EXECUTE, { body: sized(limit / 2) })
    expect(half.body.result?.rows).toHaveLength(1)
  })
})
