import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { atEndOfSuite, stateDirectory } from '../npm-script.ts'
import { type Service, transferCommands } from './transfer-commands.ts'

const TYPES = { page_view: { record_type: 1 }, view: { record_type: 5 } }

describe('The steps of docs/operating.md', () => {
  let folder: string
  const atEnd = atEndOfSuite()
  beforeAll(async () => {
    folder = await stateDirectory(atEnd)
  })
  const { startService, run } = transferCommands(() => folder, atEnd)

  const hoursOf = async (service: Service, of: string) => {
    const { points } = (await service.call('GET', `/v1/${of}/history?by=hour`)) as {
      points: { start: string; count: number }[]
    }
    return points.filter(({ count }) => count !== 0)
  }
  const save = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }

  it('take a flood out of a counter and its type, hours included, and change nothing else', async () => {
    const service = await startService()
    const increments = [
      { type: 'page_view', key: '/flooded', by: 1_000 },
      { type: 'page_view', key: '/other', by: 20 },
    ]
    await service.call('POST', '/v1/increments', { increments })
    await service.call('POST', '/v1/rollup')
    const [flooded] = await hoursOf(service, 'counters/page_view/%2Fflooded')
    expect(flooded).toMatchObject({ count: 1_000 })
    const file = await save('flood.csv', `type,key,count,day\npage_view,/flooded,-990,${flooded!.start.slice(0, 13)}\n`)
    for (const said of ['1 rows imported', 'had been imported before']) {
      expect(await run('import', service, [file])).toMatchObject({ code: 0, out: expect.stringContaining(said) })
    }
    expect(await service.counts('page_view')).toEqual(
      new Map([
        ['/flooded', 10n],
        ['/other', 20n],
      ]),
    )
    expect(await hoursOf(service, 'counters/page_view/%2Fflooded')).toEqual([{ ...flooded, count: 10 }])
    expect(await hoursOf(service, 'types/page_view')).toEqual([{ ...flooded, count: 30 }])
    expect(await run('verify', service, [])).toMatchObject({
      code: 0,
      out: expect.stringContaining('everything agrees'),
    })
  })

  it('give a type another name, another record_type or another Worker, with its days', async () => {
    const before = await startService({ COUNTERS: TYPES })
    const counters = [
      { type: 'page_view', key: '/a', count: 7, day: '2026-10-31' },
      { type: 'page_view', key: '/a', count: 5 },
    ]
    await before.call('POST', '/v1/imports', { counters }, { 'Idempotency-Key': 'old' })
    await before.call('POST', '/v1/counters/page_view/%2Fb', { by: 3 })
    const counts = new Map([
      ['/a', 12n],
      ['/b', 3n],
    ])

    // The same rows under another name.
    const renamed = await startService({ COUNTERS: { pages: { record_type: 1 } } }, before)
    expect(await renamed.counts('pages')).toEqual(counts)

    // Another record_type: rows of another type.
    const { out } = await run('export', before, ['--by', 'day', '--type', 'page_view'])
    const file = await save('type.csv', out.replaceAll('"page_view",', '"view",'))
    const elsewhere = await startService({ COUNTERS: TYPES })
    for (const to of [before, elsewhere]) {
      expect(await run('import', to, [file])).toMatchObject({ code: 0 })
      expect(await to.counts('view')).toEqual(counts)
      const again = await run('export', to, ['--by', 'day', '--type', 'view'])
      expect(again.out.replaceAll('"view",', '"page_view",')).toBe(out)
    }
    expect(await run('delete', before, ['page_view', '--prefix', ''])).toMatchObject({ code: 0 })
    expect([await before.counts('page_view'), await before.counts('view')]).toEqual([new Map(), counts])
  })
})
