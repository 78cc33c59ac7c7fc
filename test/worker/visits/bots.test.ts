import { beforeEach, describe, expect, it } from 'vitest'
import { stopClock } from '../../harness/stopped-clock.ts'
import { TestWorker } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'
import { bePatient } from '../patience.ts'

const SETTINGS = {
  COUNTERS: {
    file: { record_type: 1, public: true, redirect_to: '/files/', bots: 'file_bot', new_keys: 'any' },
    file_bot: { record_type: 2, public: true, new_keys: ['app*'], respect_do_not_track: true },
    page: { record_type: 3, public: true, allowed_origins: ['*'], counting_badge: true, bots: 'page_bot' },
    page_bot: { record_type: 4, public: true, dedupe_seconds: 60 },
    all: { record_type: 5, public: true, redirect_to: '/files/', count_bots: true, bots: 'file_bot' },
    none: { record_type: 6, public: true, redirect_to: '/files/' },
  },
}
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
const NPM = 'npm/11.6.1 node/v24.9.0 linux x64 workspaces/false ci/github-actions'
const GPT = 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)'
const UPTIME = 'Uptime-Kuma/1.23.16'

const db = emptiedDatabase()
let worker: TestWorker
let visitors = 0
beforeEach(() => {
  // No window ends during a test.
  stopClock()
  bePatient()
  worker = new TestWorker(db.url, SETTINGS)
})

/** Requests a path as a new visitor, unless the headers name an address. @returns its X-Hit */
async function get(path: string, agent: string, headers: Record<string, string> = {}): Promise<string | null> {
  const address = `203.0.113.${visitors++ % 250}`
  const response = await worker.fetch(path, {
    headers: { 'User-Agent': agent, 'CF-Connecting-IP': address, ...headers },
  })
  await response.arrayBuffer()
  return response.headers.get('X-Hit')
}
const counts = (types: string[], key: string) => Promise.all(types.map((type) => worker.count(type, key)))

describe('A type with `bots`', () => {
  it('counts the downloads of people and their programs itself, and those of bots in the other type', async () => {
    for (const agent of [BROWSER, NPM, GPT, UPTIME, GPT]) expect(await get('/d/file/app.zip', agent)).toBe('counted')
    expect(await counts(['file', 'file_bot'], 'app.zip')).toEqual([2, 3])
    const search = await worker.api('GET', '/v1/search/file_bot?prefix=app')
    expect(await search.json()).toMatchObject({ counters: [{ key: 'app.zip' }] })
  })

  it('counts hits, pixels and badges that bots request in the other type', async () => {
    const query = '?type=page&key=%2Fa'
    expect(await get(`/hit.gif${query}`, GPT)).toBe('counted')
    expect(await get('/hit/page/%2Fa.svg', NPM)).toBe('counted')
    expect(await get(`/hit.gif${query}`, BROWSER)).toBe('counted')
    const hit = await worker.hit('page', '/a', { 'User-Agent': 'curl/8.5.0' })
    expect(hit.headers.get('X-Hit')).toBe('counted')
    expect(await counts(['page', 'page_bot'], '/a')).toEqual([1, 3])
  })

  it('leaves out what no visitor would count, and repeats in its own window', async () => {
    const bot = { 'CF-Connecting-IP': '198.51.100.7' }
    expect(await get('/d/file/app.zip', GPT, { Range: 'bytes=5-' })).toBe('ignored; reason=range')
    expect(await get('/d/file/app.zip', GPT, { Purpose: 'prefetch' })).toBe('ignored; reason=prefetch')
    expect(await get('/d/file/app.zip', GPT, { ...bot, DNT: '1' })).toBe('counted')
    expect(await get('/d/file/app.zip', GPT, bot)).toBe('ignored; reason=duplicate')
    expect(await counts(['file', 'file_bot'], 'app.zip')).toEqual([0, 1])
    // A page has no window, whatever that of the other type is.
    for (let i = 0; i < 2; i++) expect(await get('/hit.gif?type=page&key=%2Fa', GPT, bot)).toBe('counted')
    expect(await counts(['page', 'page_bot'], '/a')).toEqual([0, 2])
  })

  it('creates the counters that the other type allows', async () => {
    expect(await get('/d/file/other.zip', GPT)).toBe('ignored; reason=key')
    expect(await get('/d/file/other.zip', NPM)).toBe('counted')
    expect(await counts(['file', 'file_bot'], 'other.zip')).toEqual([1, 0])
  })

  it('counts bots itself if it counts them anyway', async () => {
    expect(await get('/d/all/app.zip', GPT)).toBe('counted')
    expect(await counts(['all', 'file_bot'], 'app.zip')).toEqual([1, 0])
  })
})

it('Downloads by bots do not count without `bots`, and are redirected', async () => {
  expect(await get('/d/none/app.zip', GPT)).toBe('ignored; reason=bot')
  expect(await get('/d/none/app.zip', 'WhatsApp/2.24.25.78 A')).toBe('ignored; reason=bot')
  expect(await get('/d/none/app.zip', NPM)).toBe('counted')
  expect(await worker.count('none', 'app.zip')).toBe(1)
})
