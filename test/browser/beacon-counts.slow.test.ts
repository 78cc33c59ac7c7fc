import { expect, it } from 'vitest'
import { call, goTo, pagesOfFile, SITE, shows } from './beacon-pages.ts'
import { settled } from './chromium.ts'

const { counter, open } = pagesOfFile({ BASE_PATH: '/counter' })

it('Counts on a page are written as in the language of the document, otherwise of the browser', async () => {
  await counter.add('page_view', '/many', 1_234_567)
  // A query is no part of the path that the script comes from.
  const options = {
    script: `<script defer src="${counter.url}/slotted.js?v=2/3"></script>`,
    context: { locale: 'de-DE' },
  }
  const { tab, said } = await open('<b data-counter="/many">…</b>', options)
  const texts: Record<string, string> = {
    en: '1,234,567',
    bn: '১২,৩৪,৫৬৭',
    'en-IN': '12,34,567',
    'ar-EG': '١٬٢٣٤٬٥٦٧',
  }
  for (const lang of ['', 'en', 'en_US', 'bn', 'no language', 'en-IN', 'tlh', 'ar-EG', 'x']) {
    await tab.evaluate((lang) => document.documentElement.setAttribute('lang', lang), lang)
    await call(tab, ['again'])
    await shows(tab, 'b', texts[lang] ?? '1.234.567')
  }
  expect(said).toEqual([])
})

it('Counts on a page are asked for by few requests, each name once, and what is wrong does not affect the others', async () => {
  await counter.add('page_view', '/n/1000', 5)
  const wrong = [
    ...[513, 7_000, 70_000].map((length) => `data-counter="${'x'.repeat(length)}"`),
    'data-counter="/same" data-type="no-such-type"',
    'data-counter="/same" data-type="with_programs"',
    'data-total="/not-listed"',
  ]
  const long = Array.from({ length: 20 }, (_, i) => `${i}${encodeURI('長'.repeat(170))}`)
  const keys = [...Array.from({ length: 1_001 }, (_, i) => `/n/${i}`), ...long, ...Array(100).fill('/same')]
  const { tab, said, asked } = await open(
    wrong.map((attributes) => `<s ${attributes}>many</s>`).join('') +
      keys.map((key) => `<b data-counter="${key}">…</b>`).join('') +
      '<i data-counter>…</i>',
  )
  await shows(tab, 'i', '1')
  const counts = keys.map((key) => (key === '/n/1000' ? '5' : '0'))
  await expect.poll(() => tab.locator('b').allTextContents()).toEqual(counts)
  expect(new Set(await tab.locator('s').allTextContents())).toEqual(new Set(['many']))
  const names = asked.flat()
  expect([names.length, asked.length < 50]).toEqual([new Set(names).size, true])
  const lengths = asked.map((names) => `${new URLSearchParams(names.map((of) => ['of', of]))}`.length)
  expect(Math.max(...lengths)).toBeLessThan(6_000)
  expect(said).toEqual([])
})

it('Counts on a page are shown in elements that are added later, which alone are asked for, also long after the address of the page', async () => {
  await counter.add('page_view', '/late', 7)
  await counter.add('page_view', '/later', 8)
  const { tab, asked } = await open('<b data-counter></b><main>…</main>')
  const become = (html: string) =>
    tab.locator('main').evaluate((main, html) => {
      main.innerHTML = html
    }, html)
  await shows(tab, 'b', '1')
  await become('<i data-counter="/late">…</i>')
  await shows(tab, 'i', '7')
  // The same place shows another counter, beside one that it showed before.
  await become('<i data-counter="/later">…</i><u data-counter="/late">…</u>')
  await shows(tab, 'i', '8')
  await shows(tab, 'u', '7')
  expect(asked).toEqual([['page_view /page'], ['page_view /late'], ['page_view /later', 'page_view /late']])
  await goTo(tab, '/next')
  await shows(tab, 'b', '1')
  await become('<s data-counter>…</s>')
  await shows(tab, 's', '1')
})

it('Counts on a page follow an element that changes in place, and are never those of another key', async () => {
  await counter.add('page_view', '/one', 5)
  await counter.add('page_view', '/two', 7)
  const { tab } = await open('<b data-counter="/one">…</b><i>…</i><u data-counter></u>')
  const set = (selector: string, name: string, value: string) =>
    tab
      .locator(selector)
      .evaluate((element, [name, value]) => element.setAttribute(name, value), [name, value] as const)
  await shows(tab, 'b', '5')
  await shows(tab, 'u', '1')
  await settled(tab)
  // The hit of the next page has no answer yet.
  const { promise: held, resolve: answer } = Promise.withResolvers<void>()
  await tab.route('**/hit?*', (route) => held.then(() => route.continue()))
  const texts = await tab.evaluate(async () => {
    history.pushState(null, '', '/two')
    document.querySelector('b')!.dataset.counter = '/two'
    await null
    return [...document.querySelectorAll('b, u')].map(({ textContent }) => textContent)
  })
  expect(texts).toEqual(['', ''])
  answer()
  await shows(tab, 'b', '8')
  await shows(tab, 'u', '8')
  // No number is known for what it shows now.
  await set('b', 'data-type', 'private')
  await shows(tab, 'b', '')
  await set('i', 'data-counter', '/one')
  await shows(tab, 'i', '5')
  // What the page writes around the number stays.
  await tab.locator('i').evaluate((i) => i.append(' views'))
  await settled(tab)
  expect(await tab.textContent('i')).toBe('5 views')
})

it('Counts on a page are those of the site whose prefix the tag names: views, downloads, calls and totals', async () => {
  await counter.add('page_view', `${SITE}/a`, 12)
  await counter.add('page_view', 'shop.example/a', 100)
  await counter.add('download', `${SITE}/app-1`, 4700)
  const { tab } = await open(
    `<a href="#file" data-download="/app-2">named</a><a id="path" download href="/f/caf%c3%a9.zip" data-download>by its path</a>
     <b data-counter>?</b><i data-counter="/other">?</i><u data-total>?</u><s data-total="/app-" data-type="download">?</s>`,
    { tag: `data-prefix="${SITE}"`, context: { locale: 'en-GB' } },
  )
  for (const [selector, text] of Object.entries({ b: '1', u: '13', s: '4,700' })) await shows(tab, selector, text)
  await tab.click('a')
  await tab.click('#path')
  await call(tab, ['/other'])
  await shows(tab, 'i', '1')
  const before = {
    'page_view blog.example/a': 12,
    'page_view shop.example/a': 100,
    'download blog.example/app-1': 4700,
  }
  const downloads = { 'download blog.example/app-2': 1, 'download blog.example/f/café.zip': 1 }
  const views = { 'page_view blog.example/page': 1, 'page_view blog.example/other': 1 }
  await counter.has({ ...before, ...downloads, ...views }, tab)
})

it('A click on a link with data-download counts once, unless it is prevented or leads to no file, wherever the link is', async () => {
  const svg = (attributes: string) =>
    `<svg width="9" height="9" xmlns:xlink="http://www.w3.org/1999/xlink"><a ${attributes}><rect width="9" height="9" /></a></svg>`
  const nowhere = ['javascript:void 0', 'mailto:jane@blog.example', 'tel:+4930123', 'http://[', 'data:,x']
  const tag = 'data-key="page"'
  const svgs = ['', 'href="https://x.example/a.zip"', 'xlink:href="https://x.example/b.zip"']
  const { tab, said } = await open(
    `<a id="path" download href="/f/caf%c3%a9.zip" data-download>path</a>
     <a id="key" href="javascript:void 0" data-download="list.csv">key</a>
     <a id="stopped" href="#x" data-download="stopped"><b>inside</b></a>
     <a id="twice" href="#x" data-download="twice">twice</a>
     <div id="host"></div>${svg('id="svg" href="#x" data-download="drawing.svg"')}
     <a id="worker" target="_blank" href="${counter.url}/d/download/app.tgz" data-download>through the Worker</a>
     <a class="no" id="prevented" href="#x" data-download="prevented">prevented</a> <a class="no" data-download>no</a>
     <a class="no" href="#x">not marked</a>
     ${nowhere.map((href) => `<a class="no" target="nowhere" href="${href}" data-download>no</a>`).join(' ')}
     ${svgs.map((href) => svg(`class="no" target="nowhere" ${href} data-download`)).join('')}
     <script>
       stopped.onclick = (event) => event.stopPropagation()
       host.attachShadow({ mode: 'open' }).innerHTML = '<a href="#x" data-download="in-shadow"><b>inside</b></a>'
       addEventListener('click', (event) => event.target.id == 'prevented' && event.preventDefault())
       for (const target of [window, document, document.createTextNode('detached')])
         target.dispatchEvent(new MouseEvent('click', { bubbles: true, composed: true }))
     </script>`,
    { tag },
  )
  for (const link of await tab.locator('.no').all()) await link.click()
  await tab.click('#path')
  await tab.focus('#key')
  await tab.keyboard.press('Enter')
  await tab.click('#key', { button: 'middle' })
  await tab.click('#key', { button: 'right' })
  await tab.click('#stopped b')
  await tab.dblclick('#twice')
  await tab.click('#host b')
  await tab.click('#svg rect')
  await tab.click('#worker')
  const files = ['f/café.zip', 'stopped', 'twice', 'in-shadow', 'drawing.svg', 'app.tgz']
  const once = Object.fromEntries(files.map((key) => [`download ${key}`, 1]))
  await counter.has({ ...once, 'download list.csv': 2, 'page_view page': 1 }, tab)
  const leaving = await open('<a href="/next" data-download data-type="page_view">leaves</a>', { tag })
  await leaving.tab.click('a')
  await counter.has({ ...once, 'download list.csv': 2, 'page_view page': 3, 'page_view next': 1 }, leaving.tab)
  expect(said.filter((line) => /Error/.test(line))).toEqual([])
})
