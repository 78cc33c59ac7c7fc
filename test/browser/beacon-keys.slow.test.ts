import fc from 'fast-check'
import { expect, it } from 'vitest'
import { pageKey } from '../../src/counters/keys/key-address.ts'
import { goTo, pagesOfFile, shows } from './beacon-pages.ts'

const { counter, open } = pagesOfFile()

it.each<[string, string[][]]>([
  [
    'blog.example',
    [
      ['https://blog.example/a?x#y', '/a?x'],
      ['https://www.blog.example/c', '/c'],
      ['https://medium.example/@me/post'],
      ['https://blog.example./d', '/d'],
      ['https://blog.example:8443/e', '/e'],
      ['https://www.medium.example/@me/post'],
      ['//user@BLOG.example/f', '/f'],
      ['https://blog.example.org/x'],
      ['https://my.blog.example/x'],
      ['https://[::1]:8080/x'],
      ['mailto:me@blog.example'],
    ],
  ],
  ['www.blog.example', [['https://blog.example/h', '/h']]],
])('A canonical link of a page of %s is its key if it names the site itself', async (host, links) => {
  const { tab, said } = await open('<link rel="canonical">', { host })
  const keys = ['/page', ...links.map(([, key], i) => key ?? `/${i}`), '/last']
  for (const [i, [link]] of links.entries()) {
    await tab.evaluate(
      ([path, link]) => {
        history.pushState(null, '', path)
        document.querySelector('link[rel=canonical]')!.setAttribute('href', link!)
      },
      [`/${i}`, link!],
    )
  }
  await goTo(tab, '/last')
  await counter.has(Object.fromEntries(keys.map((key) => [`page_view ${key}`, 1])), tab)
  expect(said).toEqual([])
})

it('A fragment is another page with data-hash, also beside a canonical link', async () => {
  const options = { path: '/app/#/caf%C3%A9', tag: 'data-hash' }
  const { tab } = await open('<link rel="canonical" href="/app/"><b data-counter>…</b>', options)
  await counter.reaches({ 'page_view /app/#/café': 1 })
  await tab.evaluate(`location.hash = '/map'`)
  await counter.reaches({ 'page_view /app/#/café': 1, 'page_view /app/#/map': 1 })
  await tab.goBack()
  await counter.has({ 'page_view /app/#/café': 2, 'page_view /app/#/map': 1 }, tab)
  await shows(tab, 'b', '2')
})

/** Parts of paths and queries as people and programs write them: raw, escaped in any way, or wrong. */
const PARTS =
  'a-1 ~ . / ? & ; = + @ : \' " < %20 é ü 日本語 हिन्दी ไทย العربية 😀 👩‍👩‍👧 e\u0301 e%CC%81 caf%C3%A9 ;jsessionid=A1 %3bSID=2 \u202e %2F %2f ' +
  '%3F %23 %26 %2B %25 %2541 %00 %0A %7f %c2%80 %E9 %C3 %C0%AF %ED%A0%80 % %4 %zz'
const part = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PARTS.split(' ')) },
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }).filter((text) => !/[\\|]/.test(text)),
)
/** The path and the query of pages whose keys are not too long. A page with a query has a canonical link. */
const page = fc
  .array(part, { minLength: 1, maxLength: 40 })
  .map((parts) => new URL(`http://site/-${parts.join('')}`))
  .map(({ pathname, search }) => pathname + search)
  .filter((page) => Buffer.byteLength(pageKey(page)) <= 512)

it('One key is counted for each of 500 pages, however their paths are written', async () => {
  const paths = [...new Set(fc.sample(page, { numRuns: 500, seed: 35 }))]
  const { tab } = await open('<link rel="canonical">')
  const counts: Record<string, number> = { 'page_view /page': 1 }
  for (let first = 0; first < paths.length; first += 50) {
    const some = paths.slice(first, first + 50)
    await tab.evaluate((paths) => {
      for (const path of paths) {
        history.pushState(null, '', path)
        const link = document.querySelector('[rel=canonical]')!
        if (path.includes('?')) link.setAttribute('href', path)
        else link.removeAttribute('href')
      }
    }, some)
    for (const path of some) {
      const name = `page_view ${pageKey(path)}`
      counts[name] = (counts[name] ?? 0) + 1
    }
    await counter.reaches(counts)
  }
  await counter.has(counts, tab)
})
