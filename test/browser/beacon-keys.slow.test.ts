import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pageKey } from '../../src/counters/keys/key-address.ts'
import { goTo, pagesOfFile, shows } from './beacon-pages.ts'

const { counter, open } = pagesOfFile()

describe('A canonical link', () => {
  it.each<[string, string[][]]>([
    [
      'blog.example',
      [
        ['https://blog.example/a?x#y', '/a?x'],
        ['/b;jsessionid=A1?q=caf%C3%A9%26b&p=2', '/b?q=café%26b&p=2'],
        ['https://www.blog.example/c', '/c'],
        ['https://medium.example/@me/post'],
        ['https://blog.example./d', '/d'],
        ['https://blog.example:8443/e', '/e'],
        ['https://www.medium.example/@me/post'],
        ['//user@BLOG.example/f', '/f'],
        ['https://blog.example.org/x'],
        ['/g/cafe%CC%81/%7Eme', '/g/café/~me'],
        ['https://my.blog.example/x'],
        ['https://[::1]:8080/x'],
        ['mailto:me@blog.example'],
      ],
    ],
    ['www.blog.example', [['https://blog.example/h', '/h']]],
  ])('of a page of %s is its key if it names the site itself', async (host, links) => {
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
})

describe('A fragment', () => {
  it('is another page with data-hash, also beside a canonical link', async () => {
    const { tab } = await open('<link rel="canonical" href="/app/"><b data-counter>…</b>', {
      path: '/app/#/caf%C3%A9',
      tag: 'data-hash',
    })
    await counter.reaches({ 'page_view /app/#/café': 1 })
    await tab.evaluate(() => {
      location.hash = '/map'
    })
    await counter.reaches({ 'page_view /app/#/café': 1, 'page_view /app/#/map': 1 })
    await tab.goBack()
    await counter.has({ 'page_view /app/#/café': 2, 'page_view /app/#/map': 1 }, tab)
    await shows(tab, 'b', '2')
  })
})

/** Bytes of the longest key. */
const MAX_KEY = 512
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

it('One key is counted and shown for each of 500 pages, however their paths are written', async () => {
  const sample = fc.sample(fc.oneof({ weight: 9, arbitrary: page }, longPage), { numRuns: 500, seed: 35 })
  const paths = [...new Set(sample)]
  const { tab } = await open('<link rel="canonical"><main></main>')
  await tab.evaluate((paths) => {
    for (const path of paths) {
      history.pushState(null, '', path)
      const link = document.querySelector('[rel=canonical]')!
      if (path.includes('?')) link.setAttribute('href', path)
      else link.removeAttribute('href')
    }
  }, paths)
  const counts: Record<string, number> = {}
  for (const key of ['/page', ...paths.map(pageKey)]) counts[key] = (counts[key] ?? 0) + 1
  await counter.has(Object.fromEntries(Object.entries(counts).map(([key, count]) => [`page_view ${key}`, count])), tab)
  // The last page by its address, and each by its path and by its key.
  const names = ['', ...paths.flatMap((path) => [path, pageKey(path)])]
  await tab.evaluate((names) => {
    for (const name of names) {
      const element = document.createElement('b')
      element.dataset.counter = name
      document.querySelector('main')!.append(element)
    }
  }, names)
  const shown = names.map((name) => String(counts[pageKey(name || paths.at(-1)!)]))
  await expect.poll(() => tab.locator('b').allTextContents()).toEqual(shown)
})
