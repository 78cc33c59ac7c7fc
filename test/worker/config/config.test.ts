import { describe, expect, it } from 'vitest'
import { ROLL_UP_CRON } from '../../../src/config/config.ts'
import { logged } from '../../harness/logged.ts'
import { TestWorker } from '../../harness/worker.ts'

describe('A configuration without its database and its types', () => {
  const wrong = () =>
    new TestWorker('mysql://root@localhost/x', {
      API_TOKEN: undefined,
      COUNTERS: {
        page_view: { record_type: 1, publik: true },
        other: { record_type: 2, slots: 0, allowed_origins: ['example.com'] },
      },
      HISTORY: { hour_days: '2000' },
    })
  it('is reported in X-Hit to hits, and the pixel stays an image', async () => {
    await logged(async () => {
      const pixel = await wrong().fetch('/hit.gif?type=page_view&key=a')
      expect([pixel.status, pixel.headers.get('Content-Type')]).toEqual([200, 'image/gif'])
      expect(pixel.headers.get('X-Hit')).toBe('ignored; reason=configuration_invalid')
      const hit = await wrong().fetch('/hit?type=page_view&key=a', { method: 'POST' })
      expect([hit.status, hit.headers.get('X-Hit')]).toEqual([503, 'ignored; reason=configuration_invalid'])
      expect(await hit.json()).toMatchObject({ errors: [{ field: 'COUNTERS.page_view.publik' }] })
    })
  })

  it('makes the cron trigger fail, with the names of the wrong settings', async () => {
    await logged(() => expect(wrong().cron(ROLL_UP_CRON)).rejects.toThrow(/DATABASE_URL.*COUNTERS\.page_view\.publik/))
  })
})
