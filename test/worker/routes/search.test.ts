import { beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase } from '../../harness/database.ts'
import { TestWorker } from '../../harness/worker.ts'

let worker: TestWorker
beforeAll(async () => {
  worker = new TestWorker((await freshDatabase()).url, {
    COUNTERS: {
      page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
      secret: { record_type: 3 },
    },
  })
  await worker.api('POST', '/v1/increments', {
    increments: [
      { type: 'page_view', key: '/ü', by: 9 },
      { type: 'page_view', key: 'a', by: 5 },
      { type: 'page_view', key: 'b', by: 7 },
    ],
  })
})

const search = '/v1/search/page_view'

describe('A search', () => {
  it('needs the token, also for public types, and goes page by page', async () => {
    for (const path of [search, '/v1/search/secret', '/v1/search/nope'])
      expect((await worker.fetch(path)).status).toBe(401)
    const response = await worker.api('GET', `${search}?prefix=${encodeURIComponent('/ü')}`)
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    expect(response.headers.get('Access-Control-Allow-Origin')).toBeNull()
    expect(await response.json()).toEqual({ counters: [{ key: '/ü', count: 9 }], next: null })
    const page = (await (await worker.api('GET', `${search}?limit=1`)).json()) as { next: string }
    expect(page).toMatchObject({ counters: [{ key: '/ü' }], next: '/ü' })
    expect(
      await (await worker.api('GET', `${search}?limit=1&after=${encodeURIComponent(page.next)}`)).json(),
    ).toMatchObject({
      counters: [{ key: 'a' }],
      next: 'a',
    })
  })
})
