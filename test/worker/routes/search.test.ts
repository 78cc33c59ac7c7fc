import { beforeAll, describe, expect, it } from 'vitest'
import { sharedWorker } from '../../harness/worker.ts'

const { worker } = sharedWorker({
  COUNTERS: { page_view: { record_type: 1, public: true, allowed_origins: ['*'] }, secret: { record_type: 3 } },
})
beforeAll(() => worker.add('page_view', { '/ü': 9, a: 5, b: 7 }))

const search = '/v1/search/page_view'

describe('A search', () => {
  it('needs the token, also for public types, and goes page by page', async () => {
    for (const path of [search, '/v1/search/secret', '/v1/search/nope']) {
      expect((await worker.fetch(path)).status).toBe(401)
    }
    const response = await worker.api('GET', `${search}?prefix=${encodeURIComponent('/ü')}`)
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    expect(response.headers.get('Access-Control-Allow-Origin')).toBeNull()
    expect(await response.json()).toEqual({ counters: [{ key: '/ü', count: 9, consistency: 'exact' }], next: null })
    const page = await worker.api('GET', `${search}?limit=1`)
    expect(await page.json()).toMatchObject({ counters: [{ key: '/ü' }], next: '/ü' })
    const second = await worker.api('GET', `${search}?limit=1&after=${encodeURIComponent('/ü')}`)
    expect(await second.json()).toMatchObject({ counters: [{ key: 'a' }], next: 'a' })
  })
})
