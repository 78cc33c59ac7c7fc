import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openShortChunks } from '../../local/short-chunks.ts'

describe('short chunks', () => {
  let folder: string
  let file: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slotted-counter-replay-'))
    file = join(folder, 'state/replay.json')
    onTestFinished(() => rm(folder, { recursive: true }))
  })

  it('are remembered, at once and by later runs', async () => {
    const first = await openShortChunks(file)
    expect(first.endsAt('a')).toBe(false)
    await first.add('a')
    await first.add('b')
    for (const chunks of [first, await openShortChunks(file)]) {
      expect(['a', 'b', 'c'].map((state) => chunks.endsAt(state))).toEqual([true, true, false])
    }
  })

  it('leave nothing behind when there is nothing to remember', async () => {
    await openShortChunks(file)
    expect(await readdir(folder)).toEqual([])
  })

  it('leave one file behind', async () => {
    await (await openShortChunks(file)).add('a')
    expect(await readdir(join(folder, 'state'))).toEqual(['replay.json'])
  })

  it('of two runs at once are all remembered', async () => {
    const [a, b] = [await openShortChunks(file), await openShortChunks(file)]
    await a.add('a')
    await b.add('b')
    await a.add('c')
    const later = await openShortChunks(file)
    expect(['a', 'b', 'c'].map((state) => later.endsAt(state))).toEqual([true, true, true])
  })

  it('are forgotten when there are 10,000 newer ones, the oldest first', async () => {
    const chunks = await openShortChunks(file)
    await chunks.add('first')
    await writeFile(file, JSON.stringify(['first', ...Array.from({ length: 9_999 }, (_, i) => `state ${i}`)]))
    await (await openShortChunks(file)).add('last')
    const later = await openShortChunks(file)
    expect(['first', 'state 0', 'last'].map((state) => later.endsAt(state))).toEqual([false, true, true])
    expect(JSON.parse(await readFile(file, 'utf8'))).toHaveLength(10_000)
  })

  it('that cannot be read are an error: without them lines would be counted twice', async () => {
    await expect(openShortChunks(folder)).rejects.toThrow(/EISDIR/)
    await writeFile(join(folder, 'broken.json'), '{"a":')
    await expect(openShortChunks(join(folder, 'broken.json'))).rejects.toThrow(SyntaxError)
  })
})
