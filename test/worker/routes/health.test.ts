import { describe, expect, it } from 'vitest'
import { freshDatabase } from '../../harness/database.ts'
import { TestWorker } from '../../harness/worker.ts'

describe('GET /healthz', () => {
  const health = async (on: TestWorker) => {
    const response = await on.fetch('/healthz')
    return { status: response.status, body: await response.text() }
  }

  it('answers 200 if the database answers', async () => {
    const { url } = await freshDatabase()
    expect(await health(new TestWorker(url))).toEqual({
      status: 200,
      body: JSON.stringify({ status: 'ok', database: 'ok' }),
    })
  })

  it('distinguishes a dead database, refused credentials and missing tables', async () => {
    expect(await health(new TestWorker('http://user:password@127.0.0.1:9'))).toMatchObject({
      status: 503,
      body: expect.stringContaining('does not answer'),
    })
    const { username, host } = new URL((await freshDatabase()).url)
    expect(await health(new TestWorker(`http://${username}:wrong@${host}`))).toMatchObject({
      status: 503,
      body: expect.stringContaining('credentials'),
    })
    const empty = await freshDatabase()
    await empty.execute('DROP TABLE rollup_state')
    expect(await health(new TestWorker(empty.url))).toMatchObject({
      status: 503,
      body: expect.stringContaining('npm run migrate'),
    })
  })
})
