import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { atEndOfSuite, NpmScript, npmStartOnServer, saying } from '../npm-script.ts'
import { WithholdingProxy } from '../withholding-proxy.ts'
import { accessLog, countPaths, generateAccessLog } from './sample-log.ts'

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

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

  /** Compares the counts of every path of a log, as page view and as download, with an independent count. */
  async function checkCounts(text: string): Promise<void> {
    const expected = new Map([...countPaths(text)].filter(([path]) => Buffer.byteLength(path) <= 512))
    const counted = new Map<string, number>()
    const paths = [...expected.keys()]
    for (let begin = 0; begin < paths.length; begin += 50) {
      for (const [type, slash] of [
        ['page_view', ''],
        ['download', '/'],
      ] as const) {
        // A download has no slash at its beginning.
        const keys = paths.slice(begin, begin + 50).map((path) => path.slice(slash.length))
        const query = keys.filter((key) => key !== '').map((key) => `key=${encodeURIComponent(key)}`)
        const response = await fetch(`${url}/v1/counters/${type}?${query.join('&')}`)
        const { counters } = (await response.json()) as { counters: { key: string; count: number }[] }
        for (const { key, count } of counters) counted.set(slash + key, (counted.get(slash + key) ?? 0) + count)
      }
    }
    expect(paths.length).toBeGreaterThan(1_000)
    expect(paths.filter((path) => counted.get(path) !== expected.get(path))).toEqual([])
  }

  it('with --all counts every line of a log exactly once: plain, compressed, piped, and again after a roll-up', async () => {
    const all = [join(folder, 'access.log'), '--all']
    const first = await replay(all).outcome()
    expect(first).toEqual(saying(0, /\d+ lines: counted \d+ page_view[^;]*; not counted: .*requests, 0 retries/))
    await checkCounts(log)
    const again = /\d+ lines: counted nothing; counted before: \d+; not counted: /
    expect(await replay([join(folder, 'access.log.gz'), '--all']).outcome()).toEqual(saying(0, again))
    expect(await replay(['-', '--all'], { input: log }).outcome()).toEqual(saying(0, again))
    await checkCounts(log)
    const rollUp = await fetch(`${url}/v1/rollup`, { method: 'POST', headers: { Authorization: 'Bearer local' } })
    expect(rollUp.status).toBe(200)
    expect(await replay(all).ended).toBe(0)
    await checkCounts(log)
  })

  it('counts what the Worker would have counted, and says what it left out and what it counted before', async () => {
    const line = (request: string, status = 200, agent = BROWSER) =>
      `192.0.2.1 - - [20/Nov/2026:10:00:00 +0000] "${request}" ${status} 12 "-" "${agent}"`
    const caddy = {
      request: { method: 'GET', uri: '/live/caf%C3%A9', headers: { 'User-Agent': [BROWSER] } },
      status: 200,
    }
    const traefik = { RequestMethod: 'GET', RequestPath: '/live/café?x', DownstreamStatus: 200 }
    const lines = [
      line('GET /live/caf%C3%A9 HTTP/1.1'),
      line('GET https://www.example.com/live/caf%c3%a9?utm=1 HTTP/2.0', 304),
      JSON.stringify({ ...caddy, ts: 1_795_168_800.12 }),
      JSON.stringify({ ...traefik, StartUTC: '2026-11-20T10:00:00Z' }),
      line('GET /live/caf%C3%A9.AppImage HTTP/1.1', 200, 'npm/11.6.1 node/v24.9.0 linux x64'),
      line('HEAD /live/caf%C3%A9.AppImage HTTP/1.1'),
      line('GET /live/caf%C3%A9.AppImage HTTP/1.1', 206),
      line('GET /live/caf%C3%A9 HTTP/1.1', 200, 'Mozilla/5.0 (compatible; Googlebot/2.1)'),
      line('GET /live/logo.PNG?v=2 HTTP/1.1'),
      line('GET /live/missing HTTP/1.1', 404),
      line('POST /live/form HTTP/1.1'),
      line('OPTIONS * HTTP/1.1'),
    ]
    const file = join(folder, 'live.log')
    // The mark must not cost the first line.
    await writeFile(file, `\ufeff${lines.join('\r\n')}\r\n`)
    const left =
      'not counted: 1 HEAD, 1 parts of files, 1 bots, 1 files of pages, 1 failed or redirected, 1 other methods, 1 no path'
    const page = `${url}/v1/counters/page_view/${encodeURIComponent('/live/café')}`
    const download = `${url}/v1/counters/download/${encodeURIComponent('live/café.AppImage')}`
    for (const said of ['counted 4 page_view, 1 download', 'counted nothing; counted before: 5']) {
      expect(await replay([file]).outcome()).toEqual(saying(0, `12 lines: ${said}; ${left}.`))
      expect(await (await fetch(page)).json()).toMatchObject({ count: 4 })
      expect(await (await fetch(download)).json()).toMatchObject({ count: 1 })
    }
    const dated = [file, '--dated', '--pages', 'download']
    expect(await replay(dated).outcome()).toEqual(saying(0, /: counted 5 download; not counted: /))
    expect(await replay(dated).outcome()).toEqual(saying(0, /: counted nothing; counted before: 5; not counted: /))
  })

  it('counts every line once if it is interrupted and run again', async () => {
    const file = join(folder, 'interrupted.log')
    const text = generateAccessLog(12_000)
      .replaceAll('/blog/post', '/interrupted/post')
      .replaceAll('/files/', '/interrupted/')
    await writeFile(file, text)
    const proxy = await WithholdingProxy.start(url, onTestFinished)
    const third = proxy.withhold('/v1/increments', 3)
    const interrupted = replay([file, '--all'], { at: proxy.url })
    await Promise.race([third, interrupted.ended])
    await interrupted.signal('SIGINT')
    expect(await interrupted.ended).toBe(130)
    expect(interrupted.output).toMatch(/Interrupted\.\nSo far: [1-9].*\nRun the same command again/)
    expect(await replay([file, '--all']).ended).toBe(0)
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
