import { beforeAll, describe, expect, it } from 'vitest'
import { sessionCookie } from '../../harness/sign-in.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { sharedWorker } from '../../harness/worker.ts'
import { findAll } from '../shown-page.ts'

const COUNTERS = { release: { record_type: 1, unit: 'downloads', unit_one: 'download', keys: 'files', readings: true } }
const [RELEASES, FILES] = [60, 5]

stopClockOfFile()
const { worker } = sharedWorker({ COUNTERS })
let headers: Record<string, string>
const open = async (query: string) => (await worker.fetch(`/?type=release&${query}`, { headers })).text()
const texts = async (page: string, selector: string) => (await findAll(page, selector)).map(({ text }) => text)

/** A release a day. Its file n is downloaded 10 × n times a day for two days; that of the newest release only today. */
beforeAll(async () => {
  const dayBack = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
  const rows = Array.from({ length: RELEASES * FILES }, (_, nth) => {
    const [back, file] = [Math.floor(nth / FILES), (nth % FILES) + 1]
    const row = { type: 'release', key: `v1.${RELEASES - back}.0/app-${file}.tgz`, count: 10 * file + back }
    return [back, back - 1].filter((day) => day >= 0).map((day) => ({ ...row, day: dayBack(day) }))
  })
  await worker.bringAll(rows.flat())
  headers = { Cookie: await sessionCookie(worker) }
})

describe('A synchronized repository of 60 releases with 5 files each', () => {
  it('shows which files and which releases are ahead', async () => {
    const page = await open('period=all')
    expect((await texts(page, '#top th')).slice(0, 2)).toEqual(['v1.1.0/app-5.tgz', 'v1.2.0/app-5.tgz'])
    expect(await texts(page, '#found')).toEqual(['300'])
    const folders = await texts(page, '#folders tr')
    // The files of the oldest release: 10 + 20 + 30 + 40 + 50, and 59 more each, on two days.
    expect(folders.slice(0, 2)).toEqual(['v1.1.0/890', 'v1.2.0/880'])
    expect(folders).toHaveLength(10)
    const found = await open('period=all&find=v1.1.0/')
    expect(await texts(found, '#found')).toEqual(['5 of 300 files · 890 downloads'])
  })

  it('lays the largest files over each other, each from its first day', async () => {
    const page = await open('period=all&show=age')
    const keys = [1, 2, 3, 4, 5].map((release) => `v1.${release}.0/app-5.tgz`)
    expect(await texts(page, '.legend li')).toEqual(keys)
    const days = await findAll(page, '#table-rows tbody tr')
    // Day 1, day 2 with both days, and nothing more up to today.
    expect(days[0]!.text).toContain('Day 1109 ')
    expect(days[1]!.text).toContain('Day 2218 ')
    expect(days).toHaveLength(60)
    expect(days[59]!.text).toContain(`Day 60218 ${keys[0]}– ${keys[1]}`)
    expect(page).toContain('data-units="60"')
    expect(page.match(/<path class="line"/g)).toHaveLength(5)
  })

  it('saves them as CSV', async () => {
    const csv = await open('period=all&show=age&csv=chart')
    expect(csv.split('\r\n').slice(0, 3)).toEqual([
      '"day","v1.1.0/app-5.tgz","v1.2.0/app-5.tgz","v1.3.0/app-5.tgz","v1.4.0/app-5.tgz","v1.5.0/app-5.tgz"',
      '1,109,108,107,106,105',
      '2,218,216,214,212,210',
    ])
  })

  it('shows the total if nothing was counted', async () => {
    expect(await open('find=none&show=age')).not.toContain('class="line"')
  })
})
