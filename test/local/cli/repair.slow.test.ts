import mysql from 'mysql2/promise'
import { beforeAll, describe, expect, it } from 'vitest'
import { atEndOfSuite, NpmScript, npmStartOnServer, saying } from '../npm-script.ts'

describe('npm run repair', () => {
  let url: string
  let database: mysql.Connection
  const atEnd = atEndOfSuite()
  const run = (script: 'repair' | 'verify', ...args: string[]) =>
    new NpmScript(['run', '-s', script, '--', '--url', url, '--token', 'local', ...args])
  const post = async (path: string, body: unknown = {}) => {
    const headers = { Authorization: 'Bearer local', 'Content-Type': 'application/json' }
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(response.status).toBe(200)
    return response.json()
  }

  beforeAll(async () => {
    const started = await npmStartOnServer(atEnd)
    url = started.url
    database = await mysql.createConnection({ uri: started.mysqlUrl })
    atEnd(() => database.end())
    await post('/v1/increments', { increments: [{ type: 'page_view', key: '/a b', by: 5 }] })
    await post('/v1/rollup')
  })

  it('reports what is wrong, corrects it, and verify then agrees', async () => {
    await database.query('UPDATE counters SET count = count + 2 WHERE record_type = 1')
    await database.query('UPDATE type_history SET count = count + 3 WHERE record_type = 1 AND period = 1')
    expect(await run('verify').ended).toBe(1)
    const planned = await run('repair', 'page_view', '/a b', '--dry-run').outcome()
    expect(planned).toEqual(saying(0, '/a b: total: 7, should be 5'))
    expect(planned).toEqual(saying(0, 'would be repaired. Nothing was changed.'))
    expect(await run('verify').ended).toBe(1)
    const repaired = await run('repair', 'page_view', '/a b').outcome()
    expect(repaired).toEqual(saying(0, 'sums repaired.'))
    expect(repaired).toEqual(saying(0, 'all of page_view: day '))
    expect(await run('verify').ended).toBe(0)
    const read = await fetch(`${url}/v1/counters/page_view/${encodeURIComponent('/a b')}`)
    expect(await read.json()).toMatchObject({ count: 7 })
    expect(await run('repair', 'page_view', '/a b').outcome()).toEqual(saying(0, 'Nothing is wrong.'))
  })

  it('refuses a counter that does not exist', async () => {
    expect(await run('repair', 'page_view', '/never').outcome()).toEqual(saying(1, 'does not exist'))
  })
})
