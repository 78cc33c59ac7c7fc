import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAccessLog } from '../../../../cli/replay/access-log.ts'
import { type ReplayBatch, replayBatches } from '../../../../cli/replay/cut-log-batches.ts'
import { parseLogLine } from '../../../../cli/replay/log-line.ts'
import type { ReplayRules } from '../../../../cli/replay/replay-rules.ts'
import { openRunMemory, type RunMemory } from '../../../../cli/replay/run-memory.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slotted-counter-replay-'))
})
afterAll(() => rm(folder, { recursive: true }))

let files = 0
const newFile = () => join(folder, String(files++))

/** Counts every request. */
const RULES: ReplayRules = {
  pageType: 'page_view',
  downloadType: 'download',
  downloads: /\.(zip|tgz)$/,
  all: true,
  keepQuery: false,
}

/** A line in combined format, without an agent. */
const logged = (target: string, { method = 'GET', status = '200', second = 0 } = {}) =>
  `192.0.2.1 - - [20/Nov/2026:10:59:${String(second).padStart(2, '0')} +0000] "${method} ${target} HTTP/1.1" ${status} 512 "-" "-"`

/** A memory without a file. */
function inMemory(): RunMemory {
  const states = new Set<string>()
  return {
    has: (state) => states.has(state),
    add: async (state) => void states.add(state),
  }
}
async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}
/** The batches of lines. */
const cut = (lines: readonly string[], rules = RULES, memory = inMemory()): Promise<ReplayBatch[]> =>
  Array.fromAsync(replayBatches(each(lines), rules, memory))
const keys = (all: readonly ReplayBatch[]) => all.map(({ idempotencyKey }) => idempotencyKey)
/** The requests that are sent. */
const sent = (all: readonly ReplayBatch[]) =>
  all.flatMap(({ idempotencyKey, increments }) => (increments.length > 0 ? [[idempotencyKey, increments]] : []))
const sizes = (all: readonly ReplayBatch[]) => all.map(({ lines }) => lines)
const countedIn = ({ increments }: ReplayBatch) => increments.reduce((sum, { by }) => sum + by, 0)
/** Lines for different pages. */
const paths = (count: number, from = 0) => Array.from({ length: count }, (_, i) => logged(`/page/${from + i}`))

describe('The batches of a log', () => {
  it('sum what counts, and report what does not count and why', async () => {
    const [batch, ...more] = await cut([
      logged('/a'),
      logged('/b.zip?x'),
      logged('/a?q', { method: 'POST', status: '404' }),
      '',
      'garbage',
      logged(`/${'a'.repeat(600)}`),
      '{"uri":"/a","method":"GET","status":200}',
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
      JSON.stringify({ uri: `/${'\u0001'.repeat(500)}${i}`, method: 'GET', status: 200 }),
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

/** Counts each idempotency key once, as POST /v1/increments does. */
class CountingServer {
  readonly #seen = new Map<string, string>()
  readonly counts = new Map<string, number>()

  send({ idempotencyKey, increments }: ReplayBatch): void {
    if (increments.length === 0) return
    const content = JSON.stringify(increments)
    const earlier = this.#seen.get(idempotencyKey)
    // The Worker would not count other content under the same key.
    if (earlier !== undefined) {
      expect(content).toBe(earlier)
      return
    }
    this.#seen.set(idempotencyKey, content)
    for (const { type, key, by } of increments) {
      this.counts.set(`${type} ${key}`, (this.counts.get(`${type} ${key}`) ?? 0) + by)
    }
  }
}

/** Counts names one by one. */
function tally(names: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

describe('The last batch of a log', () => {
  it('is not confused with that of another log', async () => {
    const memory = inMemory()
    const before = keys(await cut(paths(100), RULES, memory))
    await cut(paths(50, 1_000), RULES, memory)
    await cut(['garbage', 'more garbage'], RULES, memory)
    expect(keys(await cut(paths(100), RULES, memory))).toEqual(before)
    const grown = keys(await cut(paths(150), RULES, memory))
    expect([grown[0], grown.length]).toEqual([before[0], 2])
  })

  it('is remembered once', async () => {
    const added: string[] = []
    const kept = inMemory()
    const memory: RunMemory = {
      has: kept.has,
      add: async (state) => {
        added.push(state)
        await kept.add(state)
      },
    }
    for (let run = 0; run < 3; run++) await cut(paths(10), RULES, memory)
    await cut([...paths(10), 'garbage'], RULES, memory)
    await cut(['garbage'], RULES, memory)
    expect(added).toHaveLength(1)
  })

  it.each([20_000, 1_000])('may end with an unfinished line, even as line %d', async (number) => {
    const distinct = number === 1_000
    const lines = Array.from({ length: number + 5 }, (_, i) => logged(distinct ? `/${i}` : '/a'))
    const last = lines[number - 1]!
    const said = last.indexOf(' 512')
    const server = new CountingServer()
    const memory = inMemory()
    for (const length of [10, said - 1, said, said + 2, last.length]) {
      expect('skip' in parseLogLine(last.slice(0, length))).toBe(length < said)
      const unfinished = [...lines.slice(0, number - 1), last.slice(0, length)]
      for (const batch of await cut(unfinished, RULES, memory)) server.send(batch)
    }
    for (const batch of await cut(lines, RULES, memory)) server.send(batch)
    expect([...server.counts.values()].reduce((sum, count) => sum + count)).toBe(number + 5)
  })
})

describe('A last line without its agent', () => {
  const by = (agent: string, path: string) =>
    `192.0.2.1 - - [20/Nov/2026:10:59:00 +0000] "GET ${path} HTTP/1.1" 200 512 "-" "${agent}"`
  const live = { ...RULES, all: false }

  it('is left to a later run if the line before has one, because a bot may have sent it', async () => {
    const lines = [by('-', '/a'), by('-', '/b'), by('Googlebot/2.1', '/c')]
    const last = lines[2]!
    const server = new CountingServer()
    const memory = inMemory()
    for (let length = last.indexOf(' 512') - 2; length <= last.length; length++) {
      const [batch, ...more] = (await cut([...lines.slice(0, 2), last.slice(0, length)], live, memory)).slice(-2)
      for (const one of [batch!, ...more]) server.send(one)
      const reason =
        length === last.length ? 'bots' : length < last.indexOf(' 512') ? 'not a request line' : 'unfinished line'
      expect([...(more[0] ?? batch)!.skipped]).toEqual([[reason, 1]])
    }
    for (const batch of await cut([...lines, by('-', '/d')], live, memory)) server.send(batch)
    expect(server.counts).toEqual(tally(['page_view /a', 'page_view /b', 'page_view /d']))
  })

  it('counts in a log without agents, and in a log of one line', async () => {
    const common = (path: string) => by('', path).replace(' "-" ""', '')
    for (const paths of [['/a'], ['/a', '/b']]) {
      const [batch] = await cut(paths.map(common), live)
      expect(batch!.increments.map(({ key }) => key)).toEqual(paths)
    }
  })
})

/** A line as a server may log it, and the counter it counts for. */
const line = fc
  .record({
    path: fc.constantFrom(
      '/',
      '/a',
      '/b',
      '/ö',
      '/app.zip',
      '/blog/hello',
      '/say-"hi"',
      '/c?q=1',
      `/${'x'.repeat(600)}`,
    ),
    second: fc.nat(59),
    form: fc.constantFrom('logged', 'logged', 'logged', 'json', 'garbage', 'empty'),
  })
  .map(({ path, second, form }) => {
    const key = path.split('?')[0]!
    const counter = key.endsWith('.zip') ? `download ${key.slice(1)}` : `page_view ${key}`
    const name = key.length > 512 ? null : counter
    if (form === 'logged') return { text: logged(path.replaceAll('"', '\\"'), { second }), name }
    if (form === 'json') return { text: JSON.stringify({ second, request: `GET ${path} HTTP/1.1`, status: 200 }), name }
    return { text: form === 'empty' ? '' : `\u0016\u0003 € garbage ${second}`, name: null }
  })
/** A crawler: more paths than fit into one batch. */
const crawl = fc
  .record({ from: fc.nat(2_000), length: fc.integer({ min: 900, max: 1_500 }) })
  .map(({ from, length }) =>
    Array.from({ length }, (_, i) => ({ text: logged(`/page/${from + i}`), name: `page_view /page/${from + i}` })),
  )
const wholeLog = fc
  .record({
    parts: fc.array(fc.oneof({ weight: 8, arbitrary: fc.array(line) }, { weight: 1, arbitrary: crawl })),
    end: fc.constantFrom('\n', '\r\n'),
    ended: fc.boolean(),
    form: fc.constantFrom('combined', 'combined', 'common'),
  })
  .map(({ parts, end, ended, form }) => {
    // A common log has no agents in any line.
    const lines = parts.flat().filter(({ text }) => form === 'combined' || !text.startsWith('{'))
    const texts = lines.map(({ text }) => (form === 'combined' ? text : text.replace(' "-" "-"', '')))
    return {
      bytes: Buffer.from(texts.join(end) + (ended ? end : '')),
      names: lines.flatMap(({ name }) => (name === null ? [] : [name])),
    }
  })
/** One run of `npm run replay` while the log is being written. */
const run = fc.record({
  /** The share of the log that is written, in millionths. */
  size: fc.nat(1_000_000),
  gzip: fc.boolean(),
  /** Batches after which it is interrupted; most runs reach the end. */
  after: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat(4)),
  /** Whether the server still receives the batch at which it is interrupted. */
  delivered: fc.boolean(),
})

describe('A log that grows while it is replayed repeatedly, with interruptions', () => {
  it('has each of its lines counted once', async () => {
    await fc.assert(
      fc.asyncProperty(wholeLog, fc.array(run, { maxLength: 6 }), async ({ bytes, names }, runs) => {
        const server = new CountingServer()
        const [path, state] = [newFile(), newFile()]
        const last = { size: 1_000_000, gzip: false, after: Number.POSITIVE_INFINITY, delivered: true }
        for (const { size, gzip, after, delivered } of [...runs.toSorted((a, b) => a.size - b.size), last, last]) {
          // Cut anywhere: within a line, a character or a CRLF.
          const written = bytes.subarray(0, Math.floor((bytes.length * size) / 1_000_000))
          await writeFile(path, gzip ? gzipSync(written) : written)
          const { lines } = await openAccessLog(path)
          let left = after
          for await (const batch of replayBatches(lines, RULES, await openRunMemory(state))) {
            if (left > 0 || delivered) server.send(batch)
            if (left-- <= 0) break
          }
        }
        expect(server.counts).toEqual(tally(names))
      }),
      { numRuns: 300 },
    )
  })
})
