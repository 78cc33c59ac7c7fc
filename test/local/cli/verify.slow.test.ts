import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import mysql from 'mysql2/promise'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { atEndOfSuite, NpmScript, npmStartOnServer, saying } from '../npm-script.ts'

describe('npm run verify', () => {
  let url: string
  let database: mysql.Connection

  const atEnd = atEndOfSuite()

  const verify = (...args: string[]) =>
    new NpmScript(['run', '-s', 'verify', '--', '--url', url, '--token', 'local', ...args])
  const post = async (path: string, body: unknown = {}) => {
    const headers = { Authorization: 'Bearer local', 'Content-Type': 'application/json' }
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(response.status).toBe(200)
  }

  beforeAll(async () => {
    const started = await npmStartOnServer(atEnd)
    url = started.url
    database = await mysql.createConnection({ uri: started.mysqlUrl })
    atEnd(() => database.end())
    const increments = Array.from({ length: 40 }, (_, i) => ({ type: 'page_view', key: `/page/${i}`, by: i + 1 }))
    await post('/v1/increments', { increments: [...increments, { type: 'download', key: 'a\u001b[2Jb\nc\u202e ' }] })
    await post('/v1/rollup')
  })

  it('reports that everything agrees, and exits with 0', async () => {
    expect(await verify().outcome()).toEqual(saying(0, '41 counters checked: everything agrees.'))
  })

  it('explains what is wrong, shows what is invisible in keys, and exits with 1', async () => {
    await database.query('UPDATE counters SET count = count + 3 WHERE record_type = 2')
    onTestFinished(async () => void (await database.query('UPDATE counters SET count = 1 WHERE record_type = 2')))
    const script = verify('--limit', '7')
    expect(await script.ended).toBe(1)
    expect(script.output).toMatch(/download +a\\u\{1B\}\[2Jb\\u\{A\}c\\u\{202E\}\\u\{20\} +total +4 +1 +\+3\n/)
    expect(script.output).toContain('should be the sum of its days and adjustments')
    expect(script.output).toContain('41 counters checked, 1 mismatches.')
    // Counters before the cursor are left out.
    const resumed = verify('--after', 'counters.2.0')
    expect(await resumed.outcome()).toEqual(saying(1, '1 counters checked, 1 mismatches.'))
  })

  it.each([
    ['a wrong token', ['--token', 'wrong'], '401'],
    ['an invalid cursor', ['--after', 'nonsense'], 'the "next" of the previous page'],
    ['a page that is too large', ['--limit', '501'], 'from 1 to 500'],
    ['an unknown option', ['--nonsense'], 'unknown option'],
    ['an invalid address', ['--url', 'nowhere'], 'must be a URL'],
  ])('explains %s, and exits with 2', async (_, args, message) => {
    expect(await verify(...args).outcome()).toEqual(saying(2, message))
  })

  it('retries after errors that may pass, and prints how to continue after another error or an interruption', async () => {
    const answers: (number | 'never')[] = [200, 503, 429, 200, 403]
    const server = createServer((request, response) => {
      const answer = answers.shift() ?? 'never'
      if (answer === 'never') return
      response.statusCode = answer
      const after = new URL(request.url!, 'http://x').searchParams.get('after')
      response.end(
        JSON.stringify(
          answer === 200
            ? { checked: 5, wrong: [], next: `counters.1.${after ? '200' : '100'}` }
            : { detail: 'Not now.' },
        ),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const stranger = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const refused = verify('--url', stranger)
    expect(await refused.ended).toBe(2)
    expect(refused.output).toMatch(/answered 503: Not now\..*trying again/)
    expect(refused.output).toMatch(/10 counters were checked\.\n.*--after counters\.1\.200/)

    answers.push(200)
    const hanging = new Promise<void>((resolve) => server.on('request', () => answers.length === 0 && resolve()))
    const interrupted = verify('--url', stranger, '--after', 'counters.1.100')
    await hanging
    await interrupted.signal('SIGINT')
    expect(await interrupted.ended).toBe(130)
    expect(interrupted.output).toMatch(/Interrupted\..*\n.*--after counters\.1\.(1|2)00/)
  })
})
