import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAccessLog } from '../../../../cli/replay/access-log.ts'
import { replayBatches } from '../../../../cli/replay/cut-log-batches.ts'
import { countedIn, cut, inMemory, keys, logged, paths, RULES, sent, sizes } from './log-batches.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slotted-counter-replay-'))
})
afterAll(() => rm(folder, { recursive: true }))

let files = 0
const newFile = () => join(folder, String(files++))

describe('The batches of a log', () => {
  it('sum what counts, and report what does not count and why', async () => {
    const [batch, ...more] = await cut([
      logged('/a'),
      logged('/b.zip?x'),
      logged('/a?q', { method: 'POST', status: '404' }),
      '',
      'garbage',
      logged(`/${'a'.repeat(600)}`),
      '{"uri":"/a","status":200}',
    ])
    expect(more).toEqual([])
    expect(countedIn(batch!)).toBe(4)
    expect(batch).toEqual({
      idempotencyKey: expect.stringMatching(/^replay-[0-9a-f]{64}$/),
      increments: [
        { type: 'page_view', key: '/a', by: 3 },
        { type: 'download', key: 'b.zip', by: 1 },
      ],
      lines: 7,
      skipped: new Map([
        ['not a request line', 2],
        ['path longer than 512 bytes', 1],
      ]),
    })
  })

  it('are none if the log is empty', async () => {
    expect(await cut([])).toEqual([])
  })

  it('keep a page and a download of the same name apart', async () => {
    const [batch] = await cut([logged('/a?x.tgz'), logged('/a.tgz'), logged('/a')], { ...RULES, downloads: /^\/a$/ })
    expect(batch?.increments).toEqual([
      { type: 'download', key: 'a', by: 2 },
      { type: 'page_view', key: '/a.tgz', by: 1 },
    ])
  })

  it('end after 1,000 counters', async () => {
    const all = await cut([...paths(600), ...paths(900), ...paths(1_100, 2_000)])
    expect(sizes(all)).toEqual([1_500 + 100, 1_000])
    expect(all.map(({ increments }) => increments.length)).toEqual([1_000, 1_000])
    expect(all.map(countedIn)).toEqual([1_600, 1_000])
  })

  it('end after 20,000 lines', async () => {
    expect(sizes(await cut(Array(45_000).fill(logged('/a'))))).toEqual([20_000, 20_000, 5_000])
    expect(sizes(await cut(Array(40_000).fill('garbage')))).toEqual([20_000, 20_000])
  })

  it('end before the request would be too large', async () => {
    // Every character takes six bytes in JSON.
    const lines = Array.from({ length: 3_000 }, (_, i) =>
      JSON.stringify({ uri: `/${'\u0001'.repeat(500)}${i}`, status: 200 }),
    )
    const all = await cut([...lines, ...lines])
    for (const { increments } of all) expect(Buffer.byteLength(JSON.stringify({ increments }))).toBeLessThan(1024 ** 2)
    expect(all.reduce((sum, batch) => sum + countedIn(batch), 0)).toBe(6_000)
  })

  it('start at zero', async () => {
    const [first, second] = await cut([
      logged('/x'),
      ...paths(999),
      logged('/x'),
      logged('/x'),
      'garbage',
      logged('/y'),
    ])
    expect(first?.increments).toContainEqual({ type: 'page_view', key: '/x', by: 1 })
    expect(first?.skipped.size).toBe(0)
    expect(second?.increments).toEqual([
      { type: 'page_view', key: '/x', by: 2 },
      { type: 'page_view', key: '/y', by: 1 },
    ])
    expect(countedIn(second!)).toBe(3)
    expect(second).toMatchObject({ lines: 4, skipped: new Map([['not a request line', 1]]) })
  })

  const log = [...paths(1_500), 'garbage', ...paths(1_500, 700), logged('/b.zip'), '']

  it('are the same, with the same keys, in every run', async () => {
    const memory = inMemory()
    const first = sent(await cut(log, RULES, memory))
    expect(first.length).toBeGreaterThan(2)
    expect(sent(await cut(log, RULES, memory))).toEqual(first)
    expect(sent(await cut(log, { ...RULES, downloads: /\.(zip|tgz)$/ }, memory))).toEqual(first)
    expect(new Set(first.map(([key]) => key)).size).toBe(first.length)
  })

  it('are the same for a file, its copy with CRLF and its compressed copy', async () => {
    const all = await Promise.all(
      [log.join('\n'), log.join('\r\n'), gzipSync(`${log.join('\n')}\n`)].map(async (content) => {
        const path = newFile()
        await writeFile(path, content)
        return keys(await Array.fromAsync(replayBatches((await openAccessLog(path)).lines, RULES, inMemory())))
      }),
    )
    expect(all[1]).toEqual(all[0])
    expect(all[2]).toEqual(all[0])
  })

  it.each([
    ['page type', { pageType: 'p' }],
    ['download type', { downloadType: 'd' }],
    ['downloads pattern', { downloads: /\.zip$/ }],
    ['downloads pattern’s case', { downloads: /\.(zip|tgz)$/i }],
    ['choice of requests', { all: false }],
    ['query', { keepQuery: true }],
  ])('have other keys under other rules: %s', async (_, rule) => {
    const own = new Set(keys(await cut(log)))
    expect(keys(await cut(log, { ...RULES, ...rule })).filter((key) => own.has(key))).toEqual([])
  })

  it('have other keys from the first difference between two logs on', async () => {
    const differing = (second: number) => [...paths(1_000), logged('/x', { second }), ...paths(1_500, 5_000)]
    const [a, b] = [await cut(differing(1)), await cut(differing(2))]
    expect(a[0]).toEqual(b[0])
    for (const key of keys(a.slice(1))) expect(keys(b)).not.toContain(key)
  })

  it('have different keys for lines that count the same and for the same line at another place', async () => {
    const line = logged('/a')
    const logs = [[line], [line, line], [logged('/a', { second: 1 })], ['garbage', line], ['', line], [`x${line}`]]
    const all = await Promise.all(logs.map((lines) => cut(lines)))
    expect(new Set(all.flatMap(keys)).size).toBe(logs.length)
  })
})
