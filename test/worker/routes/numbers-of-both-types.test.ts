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
    const counter = await tilesOn(worker, '/counter?type=view&key=/a')
    expect([counter.today, counter.all]).toMatchObject([{ also: 4 }, { count: 7, also: 4 }])
    const type = await tilesOn(worker, '/?type=view')
    expect([type['30d'], type.all]).toMatchObject([{ also: 5 }, { count: 7, also: 5 }])
    expect((await tilesOn(worker, '/?type=visitor')).all!.also).toBe(null)
  })

  it('stay hidden from a public page if the other type has none', async () => {
    expect((await tilesOn(worker, '/stats/view')).all!.also).toBe(null)
    const both = new TestWorker(db.url, { COUNTERS: { view, visitor: { ...visitor, public_page: true } } })
    expect((await tilesOn(both, '/stats/view')).all!.also).toBe(5)
  })

  it('are those of the whole site on the page of the type, and of no counter, if it has visitors of a site', async () => {
    const site = { ...visitor, record_type: 3, visitors_of: 'site' }
    const both = new TestWorker(db.url, { COUNTERS: { view, visitor: { ...visitor, also: 'site' }, site } })
    await both.add('site', { site: 2 })
    await both.api('POST', '/v1/rollup')
    const ofType = await tilesOn(both, '/?type=view')
    expect([ofType['30d']!.also, ofType.all!.also]).toEqual([2, 2])
    expect((await tilesOn(both, '/counter?type=view&key=/a')).all!.also).toBe(4)
    const alone = new TestWorker(db.url, { COUNTERS: { view: { ...view, also: 'site' }, site } })
    expect((await tilesOn(alone, '/?type=view')).all!.also).toBe(2)
    expect((await tilesOn(alone, '/counter?type=view&key=/a')).all!.also).toBe(null)
  })
})

/** The tiles of a page, as somebody who is signed in sees them. */
async function tilesOn(on: TestWorker, path: string) {
  const headers = { Cookie: await sessionCookie(on) }
  return (await numbersOn(await (await on.fetch(path, { headers })).text())).tiles
}
