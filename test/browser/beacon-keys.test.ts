import { expect, it } from 'vitest'
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
