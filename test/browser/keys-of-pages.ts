import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { pageKey } from '../../src/counters/keys/key-address.ts'
import { NpmScript, saying, stateDirectory } from '../local/npm-script.ts'
import { chromiumOfFile } from './chromium.ts'
import { counterOfFile, TOKEN } from './shipped-worker.ts'
import { startServer } from './test-site.ts'

/** Pages of all three files. */
const PAGES = 500
const WINDOWS = 4
/** Bytes of the longest key. */
const MAX_KEY = 512
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
const FIREFOX = { headers: { 'User-Agent': AGENT } }

const oneOf = (words: string) => fc.constantFrom(...words.split(' '))
/** A part of a path as people or programs write it: raw, escaped in any way, or wrong. */
const part = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[a-z0-9._~-]{1,12}$/) },
  oneOf(
    'é ü 日本語 हिन्दी ไทย العربية 😀 👩‍👩‍👧 e\u0301 e%CC%81 ;jsessionid=A1 %3bSID=2 \u202e + & ; = @ : \' " < | %20',
  ),
  oneOf('%2F %2f %3F %23 %25 %2541 %00 %0A %7f %c2%80 %E9 %C3 %C0%AF %ED%A0%80 % %4 %zz'),
  fc.tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }), fc.boolean()).map(([text, inCapitals]) => {
    const escaped = Buffer.from(text).toString('hex').replace(/../g, '%$&')
    return inCapitals ? escaped.toUpperCase() : escaped
  }),
)
const path = fc
  .array(
    fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join('')),
    { minLength: 1, maxLength: 12 },
  )
  .map((names) => new URL(`http://site${names.map((name) => `/${name.replace(/[?#\\]/g, '')}`).join('')}`).pathname)
  // Chromium escapes it, Node.js does not.
  .map((pathname) => pathname.replaceAll('|', '%7C'))
  // Two slashes in front are a host.
  .filter((pathname) => !pathname.startsWith('//'))
/** A query of a canonical link. */
const query = fc
  .array(oneOf('id=7 q=caf%C3%A9 q=é e=e%cc%81 a=1%262 b=%2B+ c=/?%2f%3F d;sid=3 % %e9=%23'), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => new URL(`http://site/?${parts.join('&')}`).search)
/** A page: its path, and the query of its canonical link if it has one. */
const page = fc
  .tuple(path, fc.option(query, { nil: '', freq: 2 }))
  .map((parts) => parts.join(''))
  .filter((whole) => Buffer.byteLength(pageKey(whole)) <= MAX_KEY)
const longPage = fc.integer({ min: 1, max: 170 }).map((length) => encodeURI(`/${'長'.repeat(length)}`))

/** Tests that one key is counted and shown for each of a third of 500 random pages, however their paths are written. */
export function testKeysOfPages({ third }: { third: 0 | 1 | 2 }): void {
  const browser = chromiumOfFile()
  const counter = counterOfFile({
    COUNTERS: { page_view: { record_type: 1, public: true, allowed_origins: ['*'], new_keys_per_minute: 10_000 } },
  })
  const name = `one key is counted and shown for each of a third of ${PAGES} pages, however their paths are written`
  it(name, { timeout: 1_200_000 }, async () => {
    const paths = fc
      .sample(fc.oneof({ weight: 9, arbitrary: page }, longPage), { numRuns: PAGES, seed: 35 })
      .filter((_, i) => i % 3 === third)
    const keys = [...new Set(paths.map(pageKey))]
    const expected = Object.fromEntries(keys.map((key) => [`page_view ${key}`, 0]))
    const attribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
    const tag = (more = '') =>
      `<!doctype html><meta charset="utf-8"><script defer data-local ${more} src="${counter.url}/slotted.js"></script>`
    // Each page shows its own count; the last page shows those of all, by the path and by the key.
    const list = paths
      .flatMap((path) => [path, pageKey(path)])
      .map((text) => `<i data-counter="${attribute(text)}"></i>`)
    const site = await startServer(({ url = '' }, response) => {
      const link = url.includes('?') ? `<link rel="canonical" href="${attribute(url)}">` : ''
      const html = url === '/all?' ? tag('data-key="all"') + list.join('') : `${link}${tag()}<b data-counter>…</b>`
      response.setHeader('Content-Type', 'text/html').end(html)
    })
    // The page itself, a hit of a page's own script, the pixel of the first steps, and the API.
    const countIn = async (tab: Page, path: string) => {
      await tab.goto(site.url + path)
      const key = pageKey(await tab.evaluate(() => location.pathname + location.search))
      expect(key).toBe(pageKey(path))
      const counted = ++expected[`page_view ${key}`]!
      await expect.poll(() => tab.textContent('b'), { interval: 50 }).toBe(String(counted))
      const hit = new URLSearchParams({ key: path, type: 'page_view' })
      await Promise.all([
        fetch(`${counter.url}/hit?${hit}`, { method: 'POST', ...FIREFOX }),
        fetch(`${counter.url}/hit.gif?key=${encodeURIComponent(key)}&type=page_view`, FIREFOX),
        counter.add('page_view', key, 1),
      ])
      expected[`page_view ${key}`]! += 3
    }
    const windows = await Promise.all(
      Array.from({ length: WINDOWS }, async () => (await browser.newContext({ locale: 'en-US' })).newPage()),
    )
    // Each window takes the pages of some keys, so that no page shows what another window counts meanwhile.
    const work = windows.map(async (tab, window) => {
      for (const path of paths) if (keys.indexOf(pageKey(path)) % WINDOWS === window) await countIn(tab, path)
    })
    await Promise.all(work)
    /** Counts each page once with a command, which reads a file that another program wrote. */
    const countBy = async (command: string, lines: readonly string[], ...options: string[]) => {
      const folder = await stateDirectory()
      const file = join(folder, 'input')
      await writeFile(file, lines.map((line) => `${line}\n`).join(''))
      const args = ['run', '-s', command, '--', file, '--url', counter.url, ...options]
      const script = new NpmScript(args, { STATE_DIR: folder, API_TOKEN: TOKEN })
      expect(await script.outcome()).toEqual(saying(0, /\d/))
      for (const path of paths) expected[`page_view ${pageKey(path)}`]! += 1
    }
    const request = (path: string) => `- - [26/Nov/2026:10:00:00 +0000] "GET ${path} HTTP/1.1" 200 1 "-" "${AGENT}"`
    await countBy(
      'replay',
      paths.map((path) => `203.0.113.7 ${request(path)}`),
      '--all',
      '--keep-query',
    )
    const rows = paths.map((path) => `"${path}",false,0,2026-10-01T00:00:00Z`)
    await countBy('import', ['2Path,Event,Bot,Date', ...rows], '--from', 'goatcounter', '--type', 'page_view')
    await counter.reaches(expected)
    const countOf = async (key: string) => {
      const badge = await fetch(`${counter.url}/badge/page_view/${encodeURIComponent(key)}.json`)
      return [`page_view ${key}`, ((await badge.json()) as { count: number }).count]
    }
    expect(Object.fromEntries(await Promise.all(keys.map(countOf)))).toEqual(expected)
    const [tab] = windows as [Page]
    await tab.goto(`${site.url}/all?`)
    const counts = paths.map((path) => String(expected[`page_view ${pageKey(path)}`]))
    await expect.poll(() => tab.locator('i').allTextContents()).toEqual(counts.flatMap((count) => [count, count]))
    await counter.has({ ...expected, 'page_view all': 1 }, tab)
  })
}
