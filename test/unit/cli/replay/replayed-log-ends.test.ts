import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openLogEnds } from '../../../../cli/replay/replayed-log-ends.ts'

describe('Log ends', () => {
  let folder: string
  let file: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slotted-counter-replay-'))
    file = join(folder, 'state/replay.json')
    onTestFinished(() => rm(folder, { recursive: true }))
  })

  it('are remembered, in the same run and in later ones', async () => {
    const first = await openLogEnds(file)
    expect(first.has('a')).toBe(false)
    await first.add('a')
    await first.add('b')
    for (const ends of [first, await openLogEnds(file)]) {
      expect(['a', 'b', 'c'].map((state) => ends.has(state))).toEqual([true, true, false])
    }
  })

  it('leave no file if there is nothing to remember', async () => {
    await openLogEnds(file)
    expect(await readdir(folder)).toEqual([])
  })

  it('leave one file', async () => {
    await (await openLogEnds(file)).add('a')
    expect(await readdir(join(folder, 'state'))).toEqual(['replay.json'])
  })

  it('are remembered from two runs at once', async () => {
    const [a, b] = [await openLogEnds(file), await openLogEnds(file)]
    await a.add('a')
    await b.add('b')
    await a.add('c')
    const later = await openLogEnds(file)
    expect(['a', 'b', 'c'].map((state) => later.has(state))).toEqual([true, true, true])
  })

  it('are forgotten when there are 10,000 newer ones, the oldest first', async () => {
    const ends = await openLogEnds(file)
    await ends.add('first')
    await writeFile(file, JSON.stringify(['first', ...Array.from({ length: 9_999 }, (_, i) => `state ${i}`)]))
    await (await openLogEnds(file)).add('last')
    const later = await openLogEnds(file)
    expect(['first', 'state 0', 'last'].map((state) => later.has(state))).toEqual([false, true, true])
    expect(JSON.parse(await readFile(file, 'utf8'))).toHaveLength(10_000)
  })

  it('that cannot be read are an error, because lines would count twice', async () => {
    await expect(openLogEnds(folder)).rejects.toThrow(/EISDIR/)
    await writeFile(join(folder, 'broken.json'), '{"a":')
    await expect(openLogEnds(join(folder, 'broken.json'))).rejects.toThrow(SyntaxError)
  })
})
