import { beforeAll, describe, expect, it } from 'vitest'
import { sessionCookie } from '../../harness/sign-in.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'
import { numbersOn } from '../shown-page.ts'

const view = { record_type: 1, public: true, public_page: true, also: 'visitor', unit: 'views' }
const visitor = { record_type: 2, public: true, dedupe_seconds: 3_600, title: 'Visitors', unit: 'visitors' }

stopClockOfFile()
const { db, worker } = sharedWorker({ COUNTERS: { view, visitor } })
beforeAll(async () => {
  await worker.add('view', { '/a': 7 })
  await worker.add('visitor', { '/a': 3, '/b': 1 })
  await worker.api('POST', '/v1/rollup')
  await worker.add('visitor', { '/a': 1 })
})

describe('The numbers of a type that counts for another one too', () => {
  it('come with those of the other: of the counter and of the type, pending ones included', async () => {
    const counter = await (await worker.api('GET', '/numbers?type=view&key=/a')).json()
    const ofCounter = { total: 4, figures: { today: { count: 4 } } }
    expect(counter).toMatchObject({ total: 7, also: ofCounter })
    const type = await (await worker.api('GET', '/numbers?type=view')).json()
    expect(type).toMatchObject({ total: 7, also: { total: 5, figures: { '30d': { count: 5 } } } })
    expect(await (await worker.api('GET', '/numbers?type=visitor')).json()).not.toHaveProperty('also')
  })

  it('are shown in the page', async () => {
    const headers = { Cookie: await sessionCookie(worker) }
    for (const path of ['/?type=view', '/counter?type=view&key=/a'])
      expect(await visitorsOn(worker, path, headers)).toBe(true)
    expect(await visitorsOn(worker, '/?type=visitor', headers)).toBe(false)
  })

  it('stay hidden from a public page if the other type has none', async () => {
    expect(await visitorsOn(worker, '/stats/view')).toBe(false)
    const both = new TestWorker(db.url, { COUNTERS: { view, visitor: { ...visitor, public_page: true } } })
    expect(await visitorsOn(both, '/stats/view')).toBe(true)
  })

  it('are those of the whole site on the page of the type, and of no counter, if it has visitors of a site', async () => {
    const site = { ...visitor, record_type: 3, visitors_of: 'site' }
    const both = new TestWorker(db.url, { COUNTERS: { view, visitor: { ...visitor, also: 'site' }, site } })
    await both.add('site', { site: 2 })
    await both.api('POST', '/v1/rollup')
    const json = async (on: TestWorker, query: string) => (await on.api('GET', `/numbers?type=${query}`)).json()
    expect(await json(both, 'view')).toMatchObject({ also: { total: 2, figures: { '30d': { count: 2 } } } })
    expect(await json(both, 'view&key=/a')).toMatchObject({ also: { total: 4 } })
    const alone = new TestWorker(db.url, { COUNTERS: { view: { ...view, also: 'site' }, site } })
    expect(await json(alone, 'view')).toMatchObject({ also: { total: 2 } })
    expect(await json(alone, 'view&key=/a')).not.toHaveProperty('also')
    const headers = { Cookie: await sessionCookie(alone) }
    expect(await visitorsOn(alone, '/?type=view', headers)).toBe(true)
    expect(await visitorsOn(alone, '/counter?type=view&key=/a', headers)).toBe(false)
  })
})

/** Whether the tiles of a page have visitors. */
async function visitorsOn(on: TestWorker, path: string, headers = {}): Promise<boolean> {
  const { tiles } = await numbersOn(await (await on.fetch(path, { headers })).text())
  return tiles.today!.also !== null
}
