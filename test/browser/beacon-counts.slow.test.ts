import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { call, goTo, pagesOfFile, SITE, shows } from './beacon-pages.ts'
import { settled } from './chromium.ts'

const { counter, open } = pagesOfFile({ BASE_PATH: '/counter' })

describe('Counts on a page', () => {
  it('are written as in the language of the document, otherwise of the browser', async () => {
    await counter.add('page_view', '/many', 1_234_567)
    const { tab, said } = await open('<b data-counter="/many">…</b>', { locale: 'de-DE' })
    for (const [lang, text] of [
      ['', '1.234.567'],
      ['en', '1,234,567'],
      ['en_US', '1.234.567'],
      ['bn', '১২,৩৪,৫৬৭'],
      ['no language', '1.234.567'],
      ['en-IN', '12,34,567'],
      ['tlh', '1.234.567'],
      ['ar-EG', '١٬٢٣٤٬٥٦٧'],
      ['x', '1.234.567'],
    ] as const) {
      await tab.evaluate((lang) => document.documentElement.setAttribute('lang', lang), lang)
      await call(tab, ['again'])
      await shows(tab, 'b', text)
    }
    expect(said).toEqual([])
  })

  it('are asked for by few requests, each name once, and what is wrong does not affect the others', async () => {
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

  it('are shown in elements that are added later, which alone are asked for', async () => {
    await counter.add('page_view', '/late', 7)
    await counter.add('page_view', '/later', 8)
    const { tab, asked } = await open('<b data-counter></b><main>…</main>')
    const become = (html: string) =>
      tab.evaluate((html) => {
        document.querySelector('main')!.innerHTML = html
      }, html)
    await shows(tab, 'b', '1')
    await become('<i data-counter="/late">…</i>')
    await shows(tab, 'i', '7')
    // The same place shows another counter, beside one that it showed before.
    await become('<i data-counter="/later">…</i><u data-counter="/late">…</u>')
    await shows(tab, 'i', '8')
    await shows(tab, 'u', '7')
    expect(asked).toEqual([['page_view /page'], ['page_view /late'], ['page_view /later', 'page_view /late']])
    // The content of the next page comes long after its address.
    await goTo(tab, '/next')
    await shows(tab, 'b', '1')
    await become('<s data-counter>…</s>')
    await shows(tab, 's', '1')
  })

  it('follow an element that changes in place, and are never those of another key', async () => {
    await counter.add('page_view', '/one', 5)
    await counter.add('page_view', '/two', 7)
    const { tab } = await open('<b data-counter="/one">…</b><i>…</i><u data-counter></u>')
    await shows(tab, 'b', '5')
    await shows(tab, 'u', '1')
    await settled(tab)
    // The hit of the next page has no answer yet.
    const { promise: held, resolve: answer } = Promise.withResolvers<void>()
    await tab.route('**/hit?*', (route) => held.then(() => route.continue()))
    const texts = await tab.evaluate(async () => {
      const [b, u] = ['b', 'u'].map((name) => document.querySelector<HTMLElement>(name)!) as [HTMLElement, HTMLElement]
      history.pushState(null, '', '/two')
      b.dataset.counter = '/two'
      await null
      return [b.textContent, u.textContent]
    })
    expect(texts).toEqual(['', ''])
    answer()
    await shows(tab, 'b', '8')
    await shows(tab, 'u', '8')
    // No number is known for what it shows now.
    await tab.evaluate(() => document.querySelector('b')!.setAttribute('data-type', 'private'))
    await shows(tab, 'b', '')
    await tab.evaluate(() => document.querySelector('i')!.setAttribute('data-counter', '/one'))
    await shows(tab, 'i', '5')
    // What the page writes around the number stays.
    await tab.evaluate(() => document.querySelector('i')!.append(' views'))
    await settled(tab)
    expect(await tab.textContent('i')).toBe('5 views')
  })

  it('are those of the site whose prefix the tag names: views, downloads, calls and totals', async () => {
    await counter.add('page_view', `${SITE}/a`, 12)
    await counter.add('page_view', 'shop.example/a', 100)
    await counter.add('download', `${SITE}/app-1`, 4700)
    const { tab } = await open(
      `<a href="#file" data-download="/app-2">named</a><a id="path" download href="/f/caf%c3%a9.zip" data-download>by its path</a>
       <b data-counter>?</b><i data-counter="/other">?</i><u data-total>?</u><s data-total="/app-" data-type="download">?</s>`,
      { tag: `data-prefix="${SITE}"`, locale: 'en-GB' },
    )
    for (const [selector, text] of Object.entries({ b: '1', u: '13', s: '4,700' })) await shows(tab, selector, text)
    await tab.click('a')
    await tab.click('#path')
    await call(tab, ['/other'])
    await shows(tab, 'i', '1')
    await counter.has(
      {
        [`page_view ${SITE}/a`]: 12,
        'page_view shop.example/a': 100,
        [`page_view ${SITE}/page`]: 1,
        [`page_view ${SITE}/other`]: 1,
        [`download ${SITE}/app-1`]: 4700,
        [`download ${SITE}/app-2`]: 1,
        [`download ${SITE}/f/café.zip`]: 1,
      },
      tab,
    )
  })

  it.each(['localhost', '127.0.0.1'])(
    'are shown on %s too, where views count only if the tag says so',
    async (host) => {
      await counter.add('page_view', '/page', 7)
      const { tab, said } = await open('<b data-counter>…</b>', { host })
      await shows(tab, 'b', '7')
      expect(said).toEqual(['log: needs data-local'])
      const local = await open('<b data-counter>…</b>', { host, tag: 'data-local' })
      await shows(local.tab, 'b', '8')
      await counter.has({ 'page_view /page': 8 }, tab, local.tab)
      expect(local.said).toEqual([])
    },
  )
})

describe('A click on a link with data-download', () => {
  const svg = (attributes: string) =>
    `<svg width="9" height="9" xmlns:xlink="http://www.w3.org/1999/xlink"><a ${attributes}><rect width="9" height="9" /></a></svg>`

  it('counts once, under its key or its path as /d/ has it, also in shadow roots and if the page stops the event', async () => {
    const hits: string[] = []
    const { tab, said } = await open(
      `<a id="path" download href="/f/caf%c3%a9.zip" data-download>path</a>
       <a id="key" href="javascript:void 0" data-download="list.csv">key</a>
       <a id="stopped" href="#x" data-download="stopped"><b>inside</b></a>
       <a id="twice" href="#x" data-download="twice">twice</a>
       <div id="host"></div>${svg('id="svg" href="#x" data-download="drawing.svg"')}
       <a id="worker" target="_blank" href="${counter.url}/d/download/app.tgz" data-download>through the Worker</a>
       <a id="leaves" href="/next" data-download data-type="page_view">leaves</a>
       <script>
         stopped.onclick = (event) => event.stopPropagation()
         host.attachShadow({ mode: 'open' }).innerHTML = '<a href="#x" data-download="in-shadow"><b>inside</b></a>'
       </script>`,
      { tag: 'data-key="page"' },
    )
    tab.context().on('request', (request) => void hits.push(request.url()))
    await tab.click('#path')
    await tab.focus('#key')
    await tab.keyboard.press('Enter')
    await tab.click('#key', { button: 'middle' })
    await tab.click('#key', { button: 'right' })
    await tab.click('#stopped b')
    await tab.dblclick('#twice')
    await tab.click('#host b')
    await tab.click('#svg rect')
    const keys = { 'download f/café.zip': 1, 'download list.csv': 2, 'download stopped': 1, 'download twice': 1 }
    const counts = { 'page_view page': 1, ...keys, 'download in-shadow': 1, 'download drawing.svg': 1 }
    await counter.has(counts, tab)
    hits.length = 0
    await tab.click('#worker')
    await counter.has({ ...counts, 'download app.tgz': 1 }, tab)
    expect(hits.filter((url) => url.includes('/hit'))).toEqual([])
    await tab.click('#leaves')
    await counter.has({ ...counts, 'download app.tgz': 1, 'page_view next': 1, 'page_view page': 2 }, tab)
    expect(said.filter((line) => !line.startsWith('error: Failed to load'))).toEqual([])
  })

  it('counts nothing if it is prevented or leads to no file, and clicks on anything throw nothing', async () => {
    const links = ['javascript:void 0', 'mailto:jane@blog.example', 'tel:+4930123', 'http://[', 'data:,x', 'none']
    const svgs = ['', 'href="https://x.example/a.zip"', 'xlink:href="https://x.example/b.zip"']
    const { tab, said } = await open(
      `<a class="no" id="prevented" href="#x" data-download="prevented">prevented</a>
       <a class="no" href="#x">not marked</a>
       ${links.map((href) => `<a class="no" ${href === 'none' ? '' : `href="${href}"`} data-download>no</a>`).join(' ')}
       ${svgs.map((href) => svg(`class="no" target="nowhere" ${href} data-download`)).join('')}
       <script>
         for (const link of document.querySelectorAll('a[href]:not([href^="#"])')) link.setAttribute('target', 'nowhere')
         addEventListener('click', (event) => event.target.id == 'prevented' && event.preventDefault())
         for (const target of [window, document, document.createTextNode('detached')]) {
           target.dispatchEvent(new MouseEvent('click', { bubbles: true, composed: true }))
         }
       </script>`,
    )
    for (const link of await tab.locator('.no').all()) await link.click()
    await counter.has({ 'page_view /page': 1 }, tab)
    expect(said.filter((line) => /Error/.test(line))).toEqual([])
  })
})

it('The script asks below the path that it comes from', async () => {
  const body = await (await fetch(`${counter.url}/slotted.js`)).text()
  for (const [path, base] of [
    ['/counter/slotted-1.0.0.js', '/counter'],
    ['/counter/slotted.js?v=2/3', '/counter'],
    ['/slotted-1.0.0.js', ''],
    ['/beta/slotted/slotted.js', '/beta/slotted'],
    ['/js/page.js', '/js'],
  ]) {
    const asked: string[] = []
    const before = (tab: Page) =>
      tab.route('https://counter.example/**', (route) => {
        const { pathname } = new URL(route.request().url())
        if (pathname.endsWith('.js')) return route.fulfill({ contentType: 'text/javascript', body })
        asked.push(pathname)
        return route.fulfill({ status: 204, headers: { 'Access-Control-Allow-Origin': '*' } })
      })
    await open('', { before, script: `<script defer src="https://counter.example${path}"></script>` })
    await expect.poll(() => asked).toEqual([`${base}/hit`])
  }
})
