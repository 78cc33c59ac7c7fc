import { beforeAll, describe, expect, it } from 'vitest'
import { ROLL_UP_CRON } from '../../../src/config/config.ts'
import { hash64 } from '../../../src/counters/ids.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { sharedWorker } from '../../harness/worker.ts'

/** The record type of `video`. */
const VIDEOS = 7

interface Answer {
  checked: number
  wrong: Record<string, unknown>[]
  next: string | null
}

describe('POST /v1/verify', () => {
  stopClockOfFile()
  const { db, worker } = sharedWorker({
    COUNTERS: { page_view: { record_type: 1 }, video: { record_type: VIDEOS } },
  })
  beforeAll(async () => {
    await worker.add('page_view', Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`/page/${i}`, i + 1])))
    await worker.add('video', { '9223372036854775807': 5 })
    await worker.cron(ROLL_UP_CRON)
  })

  const verify = async (query = '') => {
    const response = await worker.api('POST', `/v1/verify${query}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    return (await response.json()) as Answer
  }
  const verifyAll = async (limit: number) => {
    const pages: Answer[] = [await verify(`?limit=${limit}`)]
    for (let next = pages[0]!.next; next !== null; next = pages.at(-1)!.next) {
      pages.push(await verify(`?limit=${limit}&after=${encodeURIComponent(next)}`))
    }
    return {
      checked: pages.reduce((sum, { checked }) => sum + checked, 0),
      wrong: pages.flatMap(({ wrong }) => wrong),
      most: Math.max(...pages.map(({ checked }) => checked)),
    }
  }

  it('checks all counters in pages, and finds nothing wrong', async () => {
    expect(await verifyAll(500)).toEqual({ checked: 31, wrong: [], most: 30 })
    expect(await verifyAll(4)).toEqual({ checked: 31, wrong: [], most: 4 })
  })

  it('names wrong counters by type and key, and wrong types, with all digits', async () => {
    await db.arrange('UPDATE counters SET count = 9223372036854775807 WHERE record_type = ?', [VIDEOS])
    await db.arrange(`UPDATE counters SET count = count - 2 WHERE name = '/page/11'`)
    await db.arrange('UPDATE type_history SET count = count + 1 WHERE record_type = ? AND period = 2', [VIDEOS])
    const { wrong } = await verifyAll(500)
    const key = '9223372036854775807'
    const page = { type: 'page_view', recordType: 1, key: '/page/11', recordId: expect.stringMatching(/^\d+$/) }
    const video = { type: 'video', recordType: VIDEOS, key, recordId: String(await hash64(key)) }
    const total = { what: 'total', start: null }
    const month = { what: 'month', start: `${new Date().toISOString().slice(0, 7)}-01` }
    expect(wrong).toEqual([
      { ...page, ...total, is: 10, shouldBe: 12, difference: -2 },
      { ...video, ...total, is: 2 ** 63, shouldBe: 5, difference: 2 ** 63 },
      { ...video, key: null, recordId: null, ...month, is: 6, shouldBe: 5, difference: 1 },
    ])
    const response = await worker.api('POST', `/v1/verify?after=counters.${VIDEOS}.0`)
    const text = await response.text()
    for (const digits of ['"is":9223372036854775807', '"difference":9223372036854775802'])
      expect(text).toContain(digits)
  })

  it.each([
    ['after', 'nonsense'],
    ['after', 'counters.1.18446744073709551616'],
    ['after', 'counters.1.2026-11-20'],
    ['after', 'days.1.2026-02-30'],
    ['after', 'days.1.7'],
    ['after', 'days.1.2026-11-20T10:00:00'],
    ['after', "days.1.2026-11-20' OR 1"],
    ['after', 'hours.0.2026-11-20'],
    ['after', 'days..'],
    ['limit', '0'],
    ['limit', '501'],
    ['limit', '1.5'],
    ['limit', ''],
    ['from', '1'],
  ])('refuses %s=%s, and does not reflect it', async (name, value) => {
    const response = await worker.api('POST', `/v1/verify?${name}=${encodeURIComponent(value)}`)
    const body = await response.text()
    expect(response.status).toBe(422)
    expect(JSON.parse(body)).toMatchObject({ code: 'invalid_request', errors: [{ field: name }] })
    if (value.length > 3) expect(body).not.toContain(value)
  })

  it.each(['counters.0.0', 'counters.65536.0', 'days.65536.', 'days.1.2026-11-20', 'days.99999.'])(
    'accepts %s',
    async (cursor) => {
      await verify(`?after=${encodeURIComponent(cursor)}`)
    },
  )
})
