import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { TOKEN } from '../built-worker.ts'
import { atEndOfSuite, PROJECT, stateDirectory } from '../npm-script.ts'
import { WithholdingProxy } from '../withholding-proxy.ts'
import { type Service, transferCommands } from './transfer-commands.ts'

/** The releases of a repository, as GitHub lists them: 100 a page, the newest first. */
const releases = (number: number, downloads: (release: number, file: number) => number) =>
  Array.from({ length: number }, (_, i) => ({
    tag_name: `v1.${number - i}.0`,
    draft: false,
    assets: Array.from({ length: 5 }, (_, file) => ({
      name: `app-${file}.tgz`,
      state: 'uploaded',
      download_count: downloads(number - i, file),
    })),
  }))

describe('npm run sync', () => {
  let folder: string
  let service: Service
  let api: string
  /** What GitHub or npm answers next, once each. Then `listed` is answered. */
  let failures: RequestListener[] = []
  let listed: unknown[] = []
  let requests: string[] = []
  const atEnd = atEndOfSuite()
  const { startService, run, interrupt } = transferCommands(() => folder, atEnd)
  const sync = (...args: string[]) => run('sync', service, [...args, '--api', api])
  const release = (asset: unknown, more = {}) => [{ tag_name: 'v1', draft: false, assets: [asset], ...more }]
  const file = (download_count: unknown, more = {}) => ({ name: 'a.zip', state: 'uploaded', download_count, ...more })

  beforeAll(async () => {
    folder = await stateDirectory(atEnd)
    const server = createServer((request, response) => {
      const { authorization } = request.headers
      requests.push(`${authorization === undefined ? '' : `${authorization} `}${request.url}`)
      const failure = failures.shift()
      if (failure !== undefined) return failure(request, response)
      const page = Number(new URL(request.url!, 'http://x').searchParams.get('page'))
      const hasNext = listed.length > 100 * page
      if (hasNext) response.setHeader('Link', `<${api}/x?page=${page + 1}>; rel="next", <${api}/x?page=9>; rel="last"`)
      response.end(JSON.stringify(listed.slice(100 * (page - 1), 100 * page)))
    }).listen(0, '127.0.0.1')
    atEnd(async () => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  beforeEach(async () => {
    failures = []
    requests = []
    service = await startService({ COUNTERS: { release: { record_type: 3, readings: true } } })
  })

  it('takes the counts of every file of every release, and adds nothing when it runs again', async () => {
    listed = releases(160, (release, file) => release * file)
    const first = await sync('github', 'acme/app')
    const sum = (160 * 161 * 10) / 2
    const line = `acme/app: 800 files in 160 releases, 800 readings taken, ${sum} downloads added.\n`
    expect(first).toEqual({ code: 0, out: line, said: '' })
    expect(requests).toEqual([1, 2].map((page) => `/repos/acme/app/releases?per_page=100&page=${page}`))
    const counts = await service.counts('release')
    expect(counts.size).toBe(800)
    expect(counts.get('v1.160.0/app-4.tgz')).toBe(640n)
    expect(counts.get('v1.1.0/app-0.tgz')).toBe(0n)
    expect((await sync('github', 'acme/app')).out).toContain('800 readings taken, 0 downloads added.')
    // A deleted file keeps its counter.
    listed = releases(160, (release, file) => release * file + 1).slice(1)
    expect((await sync('github', 'acme/app')).out).toContain(
      '795 files in 159 releases, 795 readings taken, 795 downloads',
    )
    expect((await service.counts('release')).get('v1.160.0/app-4.tgz')).toBe(640n)
  })

  it('adds each download once, when two run at once and an answer is lost', async () => {
    listed = releases(60, (release, file) => release + file)
    const proxy = await WithholdingProxy.start(service.url, atEnd)
    const interrupted = interrupt('sync', proxy, ['github', 'acme/app', '--api', api], {
      path: '/v1/readings',
      nth: 1,
      signal: 'SIGTERM',
    })
    expect((await interrupted).code).toBe(130)
    listed = releases(60, (release, file) => release + file + 10)
    const outcomes = await Promise.all([sync('github', 'acme/app'), sync('github', 'acme/app')])
    // One may be overtaken by the other, and tries again.
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0])
    const counts = await service.counts('release')
    const sum = [...counts.values()].reduce((sum, count) => sum + count, 0n)
    expect([counts.size, sum]).toEqual([300, BigInt(5 * ((60 * 61) / 2) + 60 * 10 + 300 * 10)])
    expect(await service.call('POST', '/v1/verify')).toMatchObject({ wrong: [] })
  })

  it('leaves out drafts and uploads in progress, and says which readings were not taken', async () => {
    listed = [
      ...release(file(7)),
      ...release(file(1, { state: 'starter' }), { tag_name: 'v2' }),
      ...release(file(2), { tag_name: 'v3', draft: true }),
      ...release(file(3, { name: 'x'.repeat(600) }), { tag_name: 'v4' }),
    ]
    const taken = await sync('github', 'acme/app', '--prefix', 'app ')
    expect(taken.out).toContain('2 files in 3 releases, 1 readings taken, 7 downloads added.')
    expect(taken.said).toMatch(/^Not taken: app v4\/x{600}: longer than 512 bytes\n$/)
    listed = release(file(5))
    const late = await sync('github', 'acme/app', '--prefix', 'app ')
    expect(late).toMatchObject({
      code: 0,
      said: expect.stringContaining('Not taken: app v1/a.zip: The reading is below'),
    })
    expect(await service.counts('release')).toEqual(new Map([['app v1/a.zip', 7n]]))
  })

  it('waits for GitHub, and tries again after failures', async () => {
    listed = release(file(7))
    failures = [
      (_, response) =>
        response.writeHead(403, { 'Retry-After': '1' }).end('{"message":"You have exceeded a secondary rate limit"}'),
      (_, response) => {
        const now = new Date()
        const reset = String(Math.floor(now.getTime() / 1_000) + 2)
        const headers = { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': reset, Date: now.toUTCString() }
        response.writeHead(429, headers).end('{"message":"API rate limit exceeded"}')
      },
      (_, response) => response.writeHead(502).end('<html>'),
      (_, response) => response.end('[{"tag_name":"v1","draft":false,"ass'),
      (request) => request.socket.destroy(),
    ]
    const { code, out, said } = await sync('github', 'acme/app')
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('7 downloads added.') })
    expect(said.match(/trying again/g)).toHaveLength(5)
    expect(said).toMatch(/403: You have exceeded a secondary rate limit; trying again in 1 s/)
    expect(said).toMatch(/429: API rate limit exceeded; trying again in \d s/)
  })

  it.each<[string, RequestListener | unknown, RegExp]>([
    [
      'a limit for an hour',
      overLimit,
      /rate limit exceeded for 192.0.2.1. Run this again after 10:15 UTC, or set GITHUB_TOKEN/,
    ],
    [
      'no such repository',
      answer(404, 'Not Found'),
      /404: Not Found. There is no repository acme\/app, or it is private/,
    ],
    ['a wrong token', answer(401, 'Bad credentials'), /401: Bad credentials/],
    ['a blocked repository', answer(403, 'Repository access blocked'), /403: Repository access blocked/],
    ['a count that is a text', release(file('7')), /GitHub reports 7 downloads of "a.zip"/],
    ['a negative count', release(file(-1)), /GitHub reports -1 downloads/],
    ['a count beyond 2^53', release(file(2 ** 53)), /GitHub reports 9007199254740992 downloads/],
  ])('books nothing and says why in case of %s', async (_, what, message) => {
    if (typeof what === 'function') failures = [what as RequestListener]
    else listed = what as unknown[]
    const { code, out, said } = await sync('github', 'acme/app')
    expect({ code, out, said }).toEqual({ code: 1, out: '', said: expect.stringMatching(message) })
    expect(await service.counts('release')).toEqual(new Map())
  })

  it('reports a wrong repository, type or day before it sends a request', async () => {
    expect(await sync('github', 'acme')).toMatchObject({ code: 1, said: expect.stringContaining('OWNER/REPO') })
    const unknown = await sync('github', 'acme/app', '--type', 'none')
    expect(unknown).toMatchObject({ code: 1, said: expect.stringContaining('no counter type "none"') })
    expect(await sync('npm', '../x')).toMatchObject({
      code: 1,
      said: expect.stringContaining('is not a valid name of an npm package'),
    })
    const later = await sync('npm', 'app', '--day', '2999-01-01')
    expect(later).toMatchObject({ code: 1, said: expect.stringContaining('a past day') })
    expect(requests).toEqual([])
  })

  it('runs as the scheduled action in the documentation', async () => {
    listed = release(file(7))
    const page = await readFile(join(PROJECT, 'docs/import-export.md'), 'utf8')
    const [, command = ''] = /- run: (npx slotted-counter sync github .*)/.exec(page) ?? []
    const env = {
      ...process.env,
      WORKER_URL: service.url,
      API_TOKEN: TOKEN,
      GITHUB_API_URL: api,
      GITHUB_TOKEN: 'of-the-action',
    }
    const script = command.replace('npx slotted-counter', `${process.execPath} cli/slotted-counter.ts`)
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: PROJECT, env })
    expect(stdout).toBe('OWNER/REPO: 1 files in 1 releases, 1 readings taken, 7 downloads added.\n')
    expect(requests).toEqual(['Bearer of-the-action /repos/OWNER/REPO/releases?per_page=100&page=1'])
  })

  it("adds npm's downloads of a day once", async () => {
    const day = '2026-11-20'
    const counted = (downloads: number): RequestListener => {
      return (_, response) => response.end(JSON.stringify({ package: '@acme/app', downloads: [{ downloads, day }] }))
    }
    const npm = async (downloads: number) => {
      failures = [counted(downloads)]
      const { code, out, said } = await sync('npm', '@acme/app', '--day', day)
      expect(code).toBe(0)
      return out + said
    }
    const days = `days from ${day} to ${day} have downloads, and all of them are added.\n`
    expect(await npm(0)).toBe(`@acme/app: 0 ${days}`)
    expect(await npm(12)).toBe(`@acme/app: 12 downloads of ${day} added.\n@acme/app: 1 ${days}`)
    expect(await npm(12)).toBe(`@acme/app: 1 ${days}`)
    expect(await npm(13)).toContain('npm now reports 13 downloads.')
    expect(requests[0]).toBe(`/downloads/range/${day}:${day}/@acme/app`)
    failures = [(_, response) => response.writeHead(404).end('{"error":"package app not found"}')]
    const unknown = await sync('npm', 'app', '--day', day)
    expect(unknown).toMatchObject({ code: 1, said: expect.stringContaining('npm answered 404') })
    const { rows } = (await service.call('GET', '/v1/export/release?by=day')) as { rows: unknown[] }
    expect(rows).toEqual([expect.objectContaining({ key: '@acme/app', count: 12, day })])
  })

  it('takes the last seven days from npm, so that a day which npm counts late is not lost', async () => {
    const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
    const days = Array.from({ length: 7 }, (_, nth) => ({ day: dayBefore(7 - nth), downloads: nth + 1 }))
    for (const known of [5, 7]) {
      const downloads = days.map((one, nth) => (nth < known ? one : { ...one, downloads: 0 }))
      failures = [(_, response) => response.end(JSON.stringify({ package: 'app', downloads }))]
      expect((await sync('npm', 'app', '--prefix', '日本/')).code).toBe(0)
    }
    expect(requests[0]).toMatch(/^\/downloads\/range\/\d{4}-\d\d-\d\d:\d{4}-\d\d-\d\d\/app$/)
    expect(await service.counts('release')).toEqual(new Map([['日本/app', 28n]]))
  })
})

function answer(status: number, message: string): RequestListener {
  return (_, response) => response.writeHead(status).end(JSON.stringify({ message, status: String(status) }))
}

/** Of 60 requests an hour none is left until 10:15, by GitHub's clock. */
function overLimit(...[, response]: Parameters<RequestListener>): void {
  const reset = String(Date.UTC(2026, 10, 20, 10, 15) / 1_000)
  const headers = { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': reset, Date: 'Fri, 20 Nov 2026 09:20:00 GMT' }
  response.writeHead(403, headers).end('{"message":"API rate limit exceeded for 192.0.2.1."}')
}
