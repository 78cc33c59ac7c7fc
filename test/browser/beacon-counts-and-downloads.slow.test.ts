import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DemoSite, startDemoSite } from '../../local/demo-site.ts'
import { chromiumOfFile, consoleOf, settled } from './chromium.ts'
import { counterOfFile, startCounter } from './shipped-worker.ts'
import { startSite } from './test-site.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()
let demo: DemoSite
beforeAll(async () => {
  demo = await startDemoSite({ counter: counter.url, port: 0 })
  return () => demo.stop()
})
beforeEach(() => counter.clear())

async function open(
  url: string,
  options: BrowserContextOptions = {},
): Promise<{ tab: Page; asked: URL[]; said: string[] }> {
  const context = await browser.newContext(options)
  const asked: URL[] = []
  context.on('request', (request) => {
    if (request.url().startsWith(`${counter.url}/v1`)) asked.push(new URL(request.url()))
  })
  const said = consoleOf(context)
  const tab = await context.newPage()
  await tab.goto(url)
  return { tab, asked, said }
}

/** Opens a page of a site that has the script and a body. */
async function openPage(body: string, attributes = '', options: BrowserContextOptions = {}) {
  const tag = `<script defer src="${counter.url}/slotted.js" ${attributes}></script>`
  const site = await startSite({ '/page': { html: `<!doctype html>${tag}${body}` }, '/next': { html: 'next' } })
  return open(`${site.url}/page`, options)
}

const shown = (tab: Page, selector: string) => expect.poll(() => tab.textContent(selector))

describe('counts on a page', () => {
  it('are formatted in the visitor’s locale, and include this view', async () => {
    await counter.add('page_view', '/', 1233)
    const german = await open(demo.url, { locale: 'de-DE' })
    await shown(german.tab, 'td[data-counter="/"]').toBe('1.234')
    await shown(german.tab, 'footer b').toBe('1.234')
    await shown(german.tab, 'td[data-counter="/downloads"]').toBe('0')
    const english = await open(demo.url, { locale: 'en-GB' })
    await shown(english.tab, 'td[data-counter="/"]').toBe('1,235')
    await counter.has({ 'page_view /': 1235 }, german.tab, english.tab)
  })

  it('are read with one request', async () => {
    const { tab, asked } = await open(`${demo.url}/downloads`)
    await shown(tab, 'footer b').toBe('1')
    await shown(tab, 'td[data-counter="list.csv"]').toBe('0')
    await settled(tab)
    const names = ['files/map.txt', 'list.csv', 'app-1.2.0.tgz'].map((key) => `download ${key}`)
    expect(asked.map(({ pathname, searchParams }) => [pathname, searchParams.getAll('of')])).toEqual([
      ['/v1/shown', [...names, 'page_view /downloads']],
    ])
  })

  it('follow navigation in a single-page application', async () => {
    const { tab } = await open(`${demo.url}/app/`)
    await shown(tab, 'td[data-counter="/app/map"]').toBe('0')
    await tab.click('text=Map')
    await shown(tab, 'td[data-counter="/app/map"]').toBe('1')
    await shown(tab, 'footer b').toBe('1')
    await tab.click('text=Overview')
    await shown(tab, 'footer b').toBe('2')
  })

  it('that cannot be read leave the placeholder of the page, and do not affect other types', async () => {
    const wrong = '<b data-counter="x" data-type="no-such-type">many</b>'
    const { tab, said } = await openPage(`${wrong}<i data-counter></i>`, 'data-local')
    await shown(tab, 'i').toBe('1')
    expect(await tab.textContent('b')).toBe('many')
    // The browser reports the request; the script adds no error of its own.
    expect(said.filter((line) => !line.startsWith('error: '))).toEqual([])
  })

  it('of a whole type are added up', async () => {
    await counter.add('page_view', '/one', 1230)
    await counter.add('page_view', '/two', 4)
    const { tab } = await openPage('<b data-total>?</b>', '', { locale: 'en-GB' })
    await shown(tab, 'b').toBe('1,234')
  })

  it('of a type or a prefix are added up, with the prefix of the site in front', async () => {
    const own = await startCounter({
      COUNTERS: {
        page_view: { record_type: 1, public: true, prefixes: ['blog.example'] },
        download: { record_type: 2, public: true, prefixes: ['blog.example/app-'] },
      },
    })
    await own.add('page_view', 'blog.example/a', 12)
    await own.add('page_view', 'shop.example/a', 100)
    await own.add('download', 'blog.example/app-1', 4700)
    await own.add('download', 'blog.example/app-2', 11)
    const tag = `<script defer src="${own.url}/slotted.js" data-prefix="blog.example"></script>`
    const totals = '<b data-total>?</b><i data-total="/app-" data-type="download">?</i><u data-counter>?</u>'
    const site = await startSite({
      '/page': { html: `<!doctype html>${tag}${totals}<s data-total="/not-listed">?</s>` },
    })
    const { tab } = await open(`${site.url}/page`, { locale: 'en-GB' })
    await shown(tab, 'b').toBe('12')
    await shown(tab, 'i').toBe('4,711')
    await shown(tab, 'u').toBe('0')
    expect(await tab.textContent('s')).toBe('?')
  })

  it('are shown in elements that are added later, which alone are asked for', async () => {
    await counter.add('page_view', '/late', 7)
    await counter.add('page_view', '/later', 8)
    const { tab, asked } = await openPage('<b data-counter></b><main>…</main>', 'data-local')
    await shown(tab, 'b').toBe('1')
    const become = (html: string) =>
      tab.evaluate((html) => {
        document.querySelector('main')!.innerHTML = html
      }, html)
    await become('<i data-counter="/late">…</i>')
    await shown(tab, 'i').toBe('7')
    // The same place shows another counter, beside one that it showed before.
    await become('<i data-counter="/later">…</i><u data-counter="/late">…</u>')
    await shown(tab, 'i').toBe('8')
    await shown(tab, 'u').toBe('7')
    expect(asked.map(({ searchParams }) => searchParams.getAll('of'))).toEqual([
      ['page_view /page'],
      ['page_view /late'],
      ['page_view /later', 'page_view /late'],
    ])
    await counter.reaches({ 'page_view /page': 1, 'page_view /late': 7, 'page_view /later': 8 })
    // The content of the next page comes long after its address.
    await tab.evaluate(() => history.pushState(null, '', '/next'))
    await shown(tab, 'b').toBe('1')
    await counter.reaches({ 'page_view /page': 1, 'page_view /next': 1, 'page_view /late': 7, 'page_view /later': 8 })
    await become('<s data-counter>…</s>')
    await shown(tab, 's').toBe('1')
  })

  it('follow an element that changes in place, and never show the number of another key', async () => {
    await counter.add('page_view', '/one', 5)
    await counter.add('page_view', '/two', 7)
    const { tab } = await openPage('<b data-counter="/one">…</b><i>…</i><u data-counter></u>', 'data-local')
    const change = (work: (b: HTMLElement, i: HTMLElement) => void) =>
      tab.evaluate(`(${work})(document.querySelector('b'), document.querySelector('i'))`)
    await shown(tab, 'b').toBe('5')
    await shown(tab, 'u').toBe('1')
    await change((b) => {
      history.pushState(null, '', '/two')
      b.dataset.counter = '/two'
    })
    await shown(tab, 'b').toBe('8')
    await shown(tab, 'u').toBe('8')
    // No number is known for what it shows now.
    await change((b) => b.setAttribute('data-type', 'private'))
    await shown(tab, 'b').toBe('')
    await change((_, i) => i.setAttribute('data-counter', '/one'))
    await shown(tab, 'i').toBe('5')
    for (const redraw of [
      (_: HTMLElement, i: HTMLElement) => i.replaceChildren('…'),
      (_: HTMLElement, i: HTMLElement) => i.firstChild!.replaceWith('loading'),
      (_: HTMLElement, i: HTMLElement) => [
        i.setAttribute('class', 'new'),
        (i.firstChild as Text).replaceData(0, 9, '…'),
      ],
    ]) {
      await change(redraw)
      await shown(tab, 'i').toBe('5')
    }
    // What the page writes around the number stays.
    await change((_, i) => i.append(' views'))
    await settled(tab)
    expect(await tab.textContent('i')).toBe('5 views')
  })

  it('are shown beside elements that are wrong, with few requests for very many elements', async () => {
    await counter.add('page_view', '/n/1000', 5)
    await counter.add('page_view', '/same', 6)
    const of = (count: number, key: (i: number) => string) =>
      Array.from({ length: count }, (_, i) => `<b data-counter="${key(i)}">…</b>`).join('')
    const wrong = [`data-counter="${'x'.repeat(513)}"`, 'data-counter="/same" data-type="none"']
    const { tab, asked, said } = await openPage(
      `${wrong.map((attributes) => `<s ${attributes}>…</s>`).join('')}
       ${of(1_001, (i) => `/n/${i}`)}<p>${of(1_200, () => '/same')}</p><i data-counter></i>`,
      'data-local',
    )
    await shown(tab, 'i').toBe('1')
    await shown(tab, '[data-counter="/n/1000"]').toBe('5')
    await expect.poll(() => tab.locator('p b').allTextContents()).toEqual(Array(1_200).fill('6'))
    await shown(tab, '[data-counter="/n/0"]').toBe('0')
    expect(await tab.locator('s').allTextContents()).toEqual(['…', '…'])
    const names = asked.flatMap(({ searchParams }) => searchParams.getAll('of'))
    expect([names.length, new Set(names).size]).toEqual([2_204, 1_005])
    expect(asked.length).toBeLessThan(50)
    expect(Math.max(...asked.map(({ href }) => href.length))).toBeLessThan(6_000)
    expect(said.filter((line) => !line.startsWith('error: Failed to load'))).toEqual([])
  })

  it('are shown on this machine too, where views are not counted', async () => {
    await counter.add('page_view', '/page', 7)
    const { tab } = await openPage('<i data-counter></i>')
    await shown(tab, 'i').toBe('7')
    await counter.has({ 'page_view /page': 7 }, tab)
  })
})

describe('downloads', () => {
  const views = { 'page_view /downloads': 1 }

  it('are counted by a click on a marked link, under its key or the path of its file as /d/ has it, and the count is updated', async () => {
    const { tab } = await open(`${demo.url}/downloads`)
    for (const name of ['map.txt', 'list.csv']) {
      const download = tab.waitForEvent('download')
      await tab.click(`text=${name}`)
      expect((await download).suggestedFilename()).toBe(name)
    }
    await shown(tab, 'td[data-counter="list.csv"]').toBe('1')
    await counter.has({ ...views, 'download files/map.txt': 1, 'download list.csv': 1 }, tab)
  })

  it('are counted with the keyboard and the middle button, but not with the right button', async () => {
    const { tab } = await open(`${demo.url}/downloads`)
    await tab.focus('text=list.csv')
    await tab.keyboard.press('Enter')
    await tab.click('text=map.txt', { button: 'middle' })
    await tab.click('text=map.txt', { button: 'right' })
    await counter.has({ ...views, 'download files/map.txt': 1, 'download list.csv': 1 }, tab)
  })

  it('are counted under the link’s type, even if the page stops the event or navigates away', async () => {
    const { tab } = await openPage(
      `<a id="stopped" href="#x" data-download="stopped"><b>inside</b></a>
          <a id="leaves" href="/next" data-download data-type="page_view">leaves</a>
          <a id="unmarked" href="#x">not marked</a>
          <script>stopped.onclick = (event) => event.stopPropagation()</script>`,
      'data-local',
    )
    await tab.click('#unmarked')
    await tab.click('#stopped b')
    await tab.click('#leaves')
    await counter.has({ 'page_view /page': 1, 'download stopped': 1, 'page_view next': 1 })
  })

  it('are counted once for a double click, and not for what is prevented or leads to no file', async () => {
    const links = ['javascript:void 0', 'mailto:jane@blog.example', 'tel:+4930123', 'none']
    const { tab } = await openPage(
      `<a id="twice" href="#x" data-download="twice">twice</a>
          <a id="prevented" href="#x" data-download="prevented">prevented</a>
          <svg width="9" height="9"><a class="no" data-download><rect width="9" height="9" /></a></svg>
          ${links.map((href) => `<a class="no" ${href === 'none' ? '' : `href="${href}"`} data-download>no</a>`).join(' ')}
          <script>
            for (const link of document.querySelectorAll('[href^=mailto], [href^=tel]')) link.target = 'nowhere'
            addEventListener('click', (event) => event.target.id == 'prevented' && event.preventDefault())
          </script>`,
      'data-local',
    )
    await tab.dblclick('#twice')
    await tab.click('#prevented')
    for (const link of await tab.locator('.no').all()) await link.click()
    await counter.has({ 'page_view /page': 1, 'download twice': 1 }, tab)
  })

  it('are counted under the key that /d/ counts, behind the prefix with a slash', async () => {
    const link = '<a href="/f/caf%c3%a9.zip" data-download>a file</a>'
    const own = await openPage(link, 'data-local data-key="page"')
    await own.tab.click('a')
    const site = await openPage(link, 'data-local data-key="/page" data-prefix="blog.example"')
    await site.tab.click('a')
    await counter.has({
      'page_view page': 1,
      'page_view blog.example/page': 1,
      'download f/café.zip': 1,
      'download blog.example/f/café.zip': 1,
    })
  })

  it('are counted in an open shadow root and in SVG, and clicks on anything throw nothing', async () => {
    const { tab, said } = await openPage(
      `<div id="host"></div>
          <svg width="9" height="9"><a id="svg" href="#x" data-download="drawing.svg"><rect width="9" height="9" /></a></svg>
          <a id="wrong" href="http://[" data-download>wrong</a>
          <script>
            host.attachShadow({ mode: 'open' }).innerHTML = '<a href="#x" data-download="in-shadow"><b>inside</b></a>'
          </script>`,
      'data-local',
    )
    await tab.click('#host b')
    await tab.click('#svg rect')
    await tab.click('#wrong')
    await tab.evaluate(() => {
      for (const target of [window, document, document.createTextNode('detached')]) {
        target.dispatchEvent(new MouseEvent('click', { bubbles: true, composed: true }))
      }
      const text = document.body.appendChild(document.createTextNode('text'))
      text.dispatchEvent(new MouseEvent('click', { bubbles: true, composed: true }))
    })
    await counter.has({ 'page_view /page': 1, 'download in-shadow': 1, 'download drawing.svg': 1 }, tab)
    expect(said.filter((line) => !line.includes('favicon') && !line.startsWith('error: Failed to load'))).toEqual([])
  })

  it('through the Worker are counted there and not by the beacon', async () => {
    const { tab } = await open(`${demo.url}/downloads`)
    const hits: string[] = []
    tab.context().on('request', (request) => void hits.push(request.url()))
    await tab.click('text=app-1.2.0.tgz', { noWaitAfter: true })
    // The script would have sent its hit before the browser followed the link.
    await expect.poll(() => hits.join()).toContain('/d/download/app-1.2.0.tgz')
    await counter.has({ ...views, 'download app-1.2.0.tgz': 1 })
    expect(hits.filter((url) => url.includes('/hit'))).toEqual([])
  })
})
