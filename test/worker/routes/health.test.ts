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
    expect(await health(new TestWorker(url))).toEqual({ status: 200, body: '{"status":"ok","database":"ok"}' })
  })

  it('distinguishes a dead database, refused credentials and missing tables', async () => {
    const { username, host } = new URL((await freshDatabase()).url)
    const empty = await freshDatabase()
    await empty.execute('DROP TABLE rollup_state')
    for (const [url, reason] of [
      ['http://user:password@127.0.0.1:9', 'does not respond'],
      [`http://${username}:wrong@${host}`, 'credentials'],
      [empty.url, 'npm run migrate'],
    ] as const) {
      expect(await health(new TestWorker(url))).toEqual({ status: 503, body: expect.stringContaining(reason) })
    }
  })
})
