import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { countersInRange } from '../../harness/keys-of-ranges.ts'
import { atEndOfSuite, stateDirectory } from '../npm-script.ts'
import { WithholdingProxy } from '../withholding-proxy.ts'
import { type Service, transferCommands } from './transfer-commands.ts'

describe('An import into several ranges', () => {
  let folder: string
  const atEnd = atEndOfSuite()
  beforeAll(async () => {
    folder = await stateDirectory(atEnd)
  })
  const { startService, run, interrupt } = transferCommands(() => folder, atEnd)
  const withRanges = (ranges: number, other?: Service) => startService({ PLAN: 'paid', SHARDING: { ranges } }, other)

  /** Writes a file of two types, some counters on several lines and some rows with a day. Returns its counts by type and key. */
  async function writeRows(name: string, rows: number, of: (i: number) => string = (i) => `/${name}/${i % 1_900}`) {
    const file = join(folder, `${name}.csv`)
    const counts = { page_view: new Map<string, bigint>(), download: new Map<string, bigint>() }
    const lines = Array.from({ length: rows }, (_, i) => {
      const type = i % 7 === 0 ? 'download' : 'page_view'
      counts[type].set(of(i), (counts[type].get(of(i)) ?? 0n) + BigInt(i))
      return `${type},${of(i)},${i},${i % 3 ? '2026-11-01' : ''}`
    })
    await writeFile(file, `type,key,count,day\n${lines.join('\n')}\n`)
    /** The counters of the file, of all that the service has. */
    const counted = async (service: Service) => {
      const of = async (type: keyof typeof counts) =>
        new Map([...(await service.counts(type))].filter(([key]) => counts[type].has(key)))
      return { page_view: await of('page_view'), download: await of('download') }
    }
    const isCounted = async (service: Service) => expect(await counted(service)).toEqual(counts)
    return { file, counted, isCounted }
  }

  it.each([2, 4, 16])('of %i is complete, and the same command again adds nothing', async (ranges) => {
    const service = await withRanges(ranges)
    const { file, isCounted } = await writeRows(`whole-${ranges}`, 2_500)
    for (const said of [/^2500 rows imported\. /m, /2500 rows imported, 2500 of them had been imported before/]) {
      expect(await run('import', service, [file])).toMatchObject({ code: 0, out: expect.stringMatching(said) })
      await isCounted(service)
    }
    expect(await service.call('POST', '/v1/verify')).toMatchObject({ wrong: [] })
  })

  it.each([
    [1, 4, 2],
    [4, 1, 8],
    [2, 8, 1],
    [8, 2, 4],
    [16, 1, 1],
  ])('that was killed with %i is completed with %i, and recognized with %i', async (before, after, last) => {
    const first = await withRanges(before)
    const [second, third] = [await withRanges(after, first), await withRanges(last, first)]
    const proxy = await WithholdingProxy.start(first.url, atEnd)
    // In the upper three of four ranges.
    const upper = (await countersInRange('/upper/', 80, 4, (range) => range > 0)).map(({ name }) => name)
    const files = [
      await writeRows(`killed-${before}-${after}`, 2_200),
      await writeRows(`few-${before}-${after}`, 160, (i) => upper[i % 80]!),
    ]
    for (const [i, { file, counted, isCounted }] of files.entries()) {
      // The first part that is small enough. Of the second file, the lower half is as small as a quarter.
      const nth = Math.log2(before) + (i === 1 && before > 2 ? 0 : 1)
      const partIsImported = () =>
        expect.poll(async () => (await counted(first)).page_view.size, { timeout: 30_000 }).toBeGreaterThan(0)
      const plan = { path: '/v1/imports', nth, signal: 'SIGKILL' } as const
      expect((await interrupt('import', proxy, [file], plan, partIsImported)).code).toBeNull()
      for (const service of [second, third, first]) {
        expect(await run('import', service, [file])).toMatchObject({ code: 0 })
        await isCounted(service)
      }
    }
  })

  it('says which lines of a batch are missing, and the same command adds them', async () => {
    const service = await withRanges(2)
    const proxy = await WithholdingProxy.start(service.url, atEnd)
    const { file, isCounted } = await writeRows('stopped', 2_000)
    // The whole is refused, then come its two parts.
    const sixth = { path: '/v1/imports', nth: 6, signal: 'SIGINT' } as const
    const { code, said } = await interrupt('import', proxy, [file], sixth)
    expect(code).toBe(130)
    expect(said).toMatch(
      /Interrupted\.\nSo far: 1\d+ rows imported.*\nAll lines up to 1001 are imported\. Of lines 1002 to 2001, \d+ are not \(unless by the last request\): (\d+, ){10}…\.\nRun the same command again/,
    )
    expect((await run('import', service, [file])).code).toBe(0)
    await isCounted(service)
  })
})
