import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openRunMemory } from '../../../../cli/replay/run-memory.ts'

describe('What earlier runs did', () => {
  let folder: string
  let file: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slotted-counter-replay-'))
    file = join(folder, 'state/replay.json')
    onTestFinished(() => rm(folder, { recursive: true }))
  })

  it('is remembered, in the same run and in later ones', async () => {
    const first = await openRunMemory(file)
    expect(first.has('a')).toBe(false)
    await first.add('a')
    await first.add('b')
    for (const ends of [first, await openRunMemory(file)]) {
      expect(['a', 'b', 'c'].map((state) => ends.has(state))).toEqual([true, true, false])
    }
  })

  it('leaves no file if there is nothing to remember', async () => {
    await openRunMemory(file)
    expect(await readdir(folder)).toEqual([])
  })

  it('leaves one file', async () => {
    await (await openRunMemory(file)).add('a')
    expect(await readdir(join(folder, 'state'))).toEqual(['replay.json'])
  })

  it('is remembered from two runs at once', async () => {
    const [a, b] = [await openRunMemory(file), await openRunMemory(file)]
    await a.add('a')
    await b.add('b')
    await a.add('c')
    const later = await openRunMemory(file)
    expect(['a', 'b', 'c'].map((state) => later.has(state))).toEqual([true, true, true])
  })

  it('is forgotten after 20,000 newer entries, the oldest first', async () => {
    const ends = await openRunMemory(file)
    await ends.add('first')
    await writeFile(
      file,
      JSON.stringify([['first', 0], ...Array.from({ length: 19_999 }, (_, i) => [`state ${i}`, 0])]),
    )
    await (await openRunMemory(file)).add('last')
    const later = await openRunMemory(file)
    expect(['first', 'state 0', 'last'].map((state) => later.has(state))).toEqual([false, true, true])
    expect(JSON.parse(await readFile(file, 'utf8'))).toHaveLength(20_000)
  })

  it('is as old as its last repetition', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const memory = await openRunMemory(file)
    const within = async () => [memory, await openRunMemory(file)].map((runs) => runs.has('a', 1_000))
    expect(await within()).toEqual([false, false])
    await memory.add('a')
    vi.setSystemTime(Date.now() + 999)
    expect(await within()).toEqual([true, true])
    await memory.add('a')
    vi.setSystemTime(Date.now() + 999)
    expect(await within()).toEqual([true, true])
    vi.setSystemTime(Date.now() + 1)
    expect(await within()).toEqual([false, false])
    expect(memory.has('a')).toBe(true)
  })

  it('is an error if it cannot be read, because lines would count twice', async () => {
    await expect(openRunMemory(folder)).rejects.toThrow(/EISDIR/)
    await writeFile(join(folder, 'broken.json'), '{"a":')
    await expect(openRunMemory(join(folder, 'broken.json'))).rejects.toThrow(SyntaxError)
  })
})
