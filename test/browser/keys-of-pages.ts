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
const FIREFOX = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' }

const escaped = (text: string, digits: 'toUpperCase' | 'toLowerCase') =>
  [...new TextEncoder().encode(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')[digits]()}`).join('')

/** A part of a path as people or programs write it: raw, escaped in any way, or wrong. */
const part = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[a-z0-9._~-]{1,12}$/) },
  fc.constantFrom(
    ' ',
    ...'é ü 日本語 हिन्दी ไทย العربية 😀 👩‍👩‍👧 e\u0301 e%CC%81 ;jsessionid=A1 %3bSID=2 \u202e + & ; = @ : \' " < |'.split(
      ' ',
    ),
  ),
  fc.constantFrom(...'%2F %2f %3F %23 %25 %2541 %00 %0A %7f %c2%80 %E9 %C3 %C0%AF %ED%A0%80 % %4 %zz'.split(' ')),
  fc
    .tuple(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }),
      fc.constantFrom('toUpperCase' as const, 'toLowerCase' as const),
    )
    .map(([text, digits]) => escaped(text, digits)),
)
const path = fc
  .array(
    fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join('')),
    { minLength: 1, maxLength: 12 },
  )
  .map((names) => new URL(`http://site${names.map((name) => `/${name.replace(/[?#\\]/g, '')}`).join('')}`))
  // Two slashes in front are a host, and "." and ".." are folders.
  .filter(({ pathname, hash, search }) => hash + search === '' && !pathname.startsWith('//'))
  .map(({ pathname }) => pathname)

/** A query of a canonical link. */
const query = fc
  .array(fc.constantFrom(...'id=7 q=caf%C3%A9 q=é e=e%cc%81 a=1%262 b=%2B+ c=/?%2f%3F d;sid=3 % %e9=%23'.split(' ')), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => new URL(`http://site/?${parts.join('&')}`).search)

/** A page: its path, and the query of its canonical link if it has one. */
const page = fc
  .tuple(path, fc.option(query, { nil: '', freq: 2 }))
  .map((parts) => parts.join(''))
  .filter((whole) => new TextEncoder().encode(pageKey(whole)).length <= MAX_KEY)

type Counter = ReturnType<typeof counterOfFile>

/** Those that write or read the key of a page. Each adds 1, given the path as the browser has it and the key that is expected. */
const writersOf = (counter: Counter): Record<string, (pathname: string, key: string) => Promise<unknown>> => ({
  'the API': (_, key) => counter.add('page_view', key, 1),
  'a hit of a page’s own script': (pathname) =>
    fetch(`${counter.url}/hit?${new URLSearchParams({ key: pathname, type: 'page_view' })}`, {
      method: 'POST',
      headers: FIREFOX,
    }),
  'the pixel of the first steps': (_, key) =>
    fetch(`${counter.url}/hit.gif?key=${encodeURIComponent(key)}&type=page_view`, { headers: FIREFOX }),
})

/** Counts each page once with a command, which reads a file that another program wrote. */
async function countByCommand(
  counter: Counter,
  name: 'replay' | 'import',
  lines: readonly string[],
  options: readonly string[],
) {
  const folder = await stateDirectory()
  const file = join(folder, 'input')
  await writeFile(file, lines.join('\n'))
  const args = ['run', '-s', name, '--', file, '--url', counter.url, ...options]
  const script = new NpmScript(args, { STATE_DIR: folder, API_TOKEN: TOKEN })
  expect(await script.outcome()).toEqual(saying(0, /\d/))
}

/** Tests that one key is counted and shown for each of a third of 500 random pages, however their paths are written. */
export function testKeysOfPages({ third }: { third: 0 | 1 | 2 }): void {
  const browser = chromiumOfFile()
  const counter = counterOfFile({
    COUNTERS: { page_view: { record_type: 1, public: true, allowed_origins: ['*'], new_keys_per_minute: 10_000 } },
  })
  it(`one key is counted and shown for each of a third of ${PAGES} pages, however their paths are written`, {
    timeout: 1_200_000,
  }, async () => {
    const paths = fc
      .sample(
        fc.oneof(
          { weight: 9, arbitrary: page },
          fc.integer({ min: 1, max: 170 }).map((length) => encodeURI(`/${'長'.repeat(length)}`)),
        ),
        { numRuns: PAGES, seed: 35 },
      )
      .filter((_, i) => i % 3 === third)
    const tag = `<!doctype html><meta charset="utf-8"><script defer data-local src="${counter.url}/slotted.js"></script>`
    const escapedAttribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
    // Each page shows its own count; the last page shows those of all, by the key and by the path.
    const list = paths.flatMap((pathname) =>
      [pathname, pageKey(pathname)].map((text) => `<i data-counter="${escapedAttribute(text)}">…</i>`),
    )
    const site = await startServer((request, response) => {
      response.setHeader('Content-Type', 'text/html')
      response.end(
        request.url === '/all?'
          ? `${tag.replace('defer', 'defer data-key="all"')}${list.join('')}`
          : `${request.url!.includes('?') ? `<link rel="canonical" href="${escapedAttribute(request.url!)}">` : ''}${tag}<b data-counter>…</b>`,
      )
    })
    const expected: Record<string, number> = {}
    const written = Object.values(writersOf(counter))
    const countIn = async (tab: Page, pathname: string) => {
      await tab.goto(site.url + pathname)
      const key = pageKey(await tab.evaluate(() => location.pathname + location.search))
      expect(key).toBe(pageKey(pathname))
      const before = expected[`page_view ${key}`] ?? 0
      await expect.poll(() => tab.textContent('b'), { interval: 50 }).toBe(String(before + 1))
      await Promise.all(written.map((write) => write(pathname, key)))
      expected[`page_view ${key}`] = before + 1 + written.length
    }
    // Each window takes the pages of some keys, so that no page shows what another window counts meanwhile.
    const keys = [...new Set(paths.map(pageKey))]
    const windows = await Promise.all(
      Array.from({ length: WINDOWS }, async () => (await browser.newContext({ locale: 'en-US' })).newPage()),
    )
    await Promise.all(
      windows.map(async (tab, window) => {
        for (const pathname of paths)
          if (keys.indexOf(pageKey(pathname)) % WINDOWS === window) await countIn(tab, pathname)
      }),
    )
    const tab = windows[0]!
    const time = '26/Nov/2026:10:00:00 +0000'
    const log = paths.map(
      (pathname) => `203.0.113.7 - - [${time}] "GET ${pathname} HTTP/1.1" 200 1 "-" "${FIREFOX['User-Agent']}"\n`,
    )
    await countByCommand(counter, 'replay', [log.join('')], ['--all', '--keep-query'])
    const rows = paths.map((pathname) => `"${pathname}",false,0,2026-10-01T00:00:00Z`)
    await countByCommand(
      counter,
      'import',
      ['2Path,Event,Bot,Date', ...rows],
      ['--from', 'goatcounter', '--type', 'page_view'],
    )
    for (const pathname of paths) expected[`page_view ${pageKey(pathname)}`]! += 2
    await counter.reaches(expected)
    const badges = await Promise.all(
      keys.map(async (key) => {
        const badge = await fetch(`${counter.url}/badge/page_view/${encodeURIComponent(key)}.json`)
        return [`page_view ${key}`, ((await badge.json()) as { count: number }).count]
      }),
    )
    expect(Object.fromEntries(badges)).toEqual(expected)
    await tab.goto(`${site.url}/all?`)
    const counts = paths
      .map((pathname) => String(expected[`page_view ${pageKey(pathname)}`]))
      .flatMap((count) => [count, count])
    await expect.poll(() => tab.locator('i').allTextContents()).toEqual(counts)
    await counter.has({ ...expected, 'page_view all': 1 }, tab)
  })
}
