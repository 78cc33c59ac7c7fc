import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { atEndOfSuite, NpmScript, npmStartOnServer, saying } from '../npm-script.ts'
import { WithholdingProxy } from '../withholding-proxy.ts'
import { accessLog, countPaths, generateAccessLog } from './sample-log.ts'

describe('npm run replay', () => {
  const log = accessLog()
  let url: string
  let folder: string

  const atEnd = atEndOfSuite()

  beforeAll(async () => {
    ;({ url, folder } = await npmStartOnServer(atEnd))
    await writeFile(join(folder, 'access.log'), log)
    await writeFile(join(folder, 'access.log.gz'), gzipSync(log))
  })

  const replay = (args: string[], { input, at = url }: { input?: string; at?: string } = {}) => {
    const script = new NpmScript(['run', '-s', 'replay', '--', '--url', at, ...args], {
      STATE_DIR: folder,
      API_TOKEN: 'local',
    })
    if (input !== undefined) script.input.end(input)
    return script
  }

  /** Compares the count of every path of a log, as page view and download together, with an independent count. */
  async function checkCounts(text: string): Promise<void> {
    const expected = new Map([...countPaths(text)].filter(([path]) => Buffer.byteLength(path) <= 512))
    const counted = new Map<string, number>()
    const paths = [...expected.keys()]
    for (let begin = 0; begin < paths.length; begin += 50) {
      const query = paths
        .slice(begin, begin + 50)
        .map((path) => `key=${encodeURIComponent(path)}`)
        .join('&')
      for (const type of ['page_view', 'download']) {
        const response = await fetch(`${url}/v1/counters/${type}?${query}`)
        const { counters } = (await response.json()) as { counters: { key: string; count: number }[] }
        for (const { key, count } of counters) counted.set(key, (counted.get(key) ?? 0) + count)
      }
    }
    expect(paths.length).toBeGreaterThan(1_000)
    expect(paths.filter((path) => counted.get(path) !== expected.get(path))).toEqual([])
  }

  it('counts every line of a log exactly once: plain, compressed, piped, and again after a roll-up', async () => {
    const first = await replay([join(folder, 'access.log')]).outcome()
    expect(first).toEqual(saying(0, /\d+ lines: counted .*page_view.*not counted: .*requests, 0 retries/))
    await checkCounts(log)
    expect(await replay([join(folder, 'access.log.gz')]).ended).toBe(0)
    expect(await replay(['-'], { input: log }).ended).toBe(0)
    await checkCounts(log)
    const rollUp = await fetch(`${url}/v1/rollup`, { method: 'POST', headers: { Authorization: 'Bearer local' } })
    expect(rollUp.status).toBe(200)
    expect(await replay([join(folder, 'access.log')]).ended).toBe(0)
    await checkCounts(log)
  })

  it('counts every line once if it is interrupted and run again', async () => {
    const file = join(folder, 'interrupted.log')
    const text = generateAccessLog(12_000)
      .replaceAll('/blog/post', '/interrupted/post')
      .replaceAll('/files/', '/interrupted/')
    await writeFile(file, text)
    const proxy = await WithholdingProxy.start(url, onTestFinished)
    const third = proxy.withhold('/v1/increments', 3)
    const interrupted = replay([file], { at: proxy.url })
    await Promise.race([third, interrupted.ended])
    await interrupted.signal('SIGINT')
    expect(await interrupted.ended).toBe(130)
    expect(interrupted.output).toMatch(/Interrupted\.\nSo far: [1-9].*\nRun the same command again/)
    expect(await replay([file]).ended).toBe(0)
    const own = text
      .split('\n')
      .filter((line) => line.includes('/interrupted/'))
      .join('\n')
    await checkCounts(own)
  })

  it('counts only the new lines of a log that has grown', async () => {
    const grown = join(folder, 'growing.log')
    const other = join(folder, 'other.log')
    const line = (i: number) => `192.0.2.1 - - [20/Nov/2026:10:00:00 +0000] "GET /growing HTTP/1.1" 200 ${i} "-" "-"\n`
    for (const lines of [10, 25, 26]) {
      await writeFile(grown, Array.from({ length: lines }, (_, i) => line(i)).join(''))
      expect(await replay([grown]).ended).toBe(0)
      // Another log in between makes no difference.
      const before = line(0).replaceAll('/growing', '/other')
      await writeFile(other, before.repeat(lines - 5))
      expect(await replay([other]).ended).toBe(0)
      expect(await replay([grown]).ended).toBe(0)
      const response = await fetch(`${url}/v1/counters/page_view/%2Fgrowing`)
      expect(await response.json()).toMatchObject({ count: lines })
    }
  })

  it('reads JSON lines as nginx writes them, and counts only the given methods and statuses', async () => {
    const file = join(folder, 'nginx.json')
    const lines = [
      { request: 'GET /json?a=1 HTTP/2.0', status: '200' },
      { request_method: 'GET', request_uri: '/json', status: 304 },
      { request: 'POST /json HTTP/2.0', status: '200' },
      { request: 'GET /json HTTP/2.0', status: '404' },
      { nothing: 'here' },
    ]
    await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'))
    const script = replay([file, '--methods', 'GET', '--statuses', '2xx,304'])
    expect(await script.ended).toBe(0)
    expect(script.output).toMatch(
      /5 lines: counted 2 page_view; not counted: .*1 other method.*1 other status.*1 not a request line/,
    )
    expect(await (await fetch(`${url}/v1/counters/page_view/%2Fjson`)).json()).toMatchObject({ count: 2 })
  })

  it.each([
    ['a missing file', () => ['/nonexistent'], 'ENOENT'],
    [
      'a compressed file that ends early',
      async () => {
        const file = join(folder, 'cut.gz')
        await writeFile(file, (await readFile(join(folder, 'access.log.gz'))).subarray(0, 5_000))
        return [file]
      },
      'unexpected end of file',
    ],
    ['a wrong token', () => [join(folder, 'access.log'), '--token', 'wrong'], '401'],
    [
      'a type that is not configured',
      () => [join(folder, 'access.log'), '--pages', 'nope'],
      'not a configured counter type',
    ],
    ['an invalid pattern', () => [join(folder, 'access.log'), '--download-pattern', '('], 'regular expression'],
  ])('explains %s', async (_, args, message) => {
    expect(await replay(await args()).outcome()).toEqual(saying(1, message))
  })
})
