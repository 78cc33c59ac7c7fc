import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DemoSite, startDemoSite } from '../../local/demo-site.ts'
import { chromiumOfFile, consoleOf, settled } from './chromium.ts'
import { counterOfFile } from './shipped-worker.ts'
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
  const tag = `<script defer src="${counter.url}/beacon.js" ${attributes}></script>`
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

  it('are read with one request per type', async () => {
    const { tab, asked } = await open(`${demo.url}/downloads`)
    await shown(tab, 'footer b').toBe('1')
    await shown(tab, 'td[data-counter="list.csv"]').toBe('0')
    await settled(tab)
    expect(asked.map(({ pathname, searchParams }) => [pathname, searchParams.getAll('key')]).sort()).toEqual([
      ['/v1/counters/download', ['/files/map.txt', 'list.csv', 'app-1.2.0.tgz']],
      ['/v1/counters/page_view', ['/downloads']],
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

  it('of a type or a prefix are asked for one by one, with the prefix of the site in front', async () => {
    const tag = `<script defer src="${counter.url}/beacon.js" data-prefix="blog.example"></script>`
    const totals = '<b data-total>?</b><i data-total="/app-" data-type="download">?</i><u data-counter>?</u>'
    const site = await startSite({ '/page': { html: `<!doctype html>${tag}${totals}` } })
    const context = await browser.newContext({ locale: 'en-GB' })
    // The answers of the Worker are tested with its routes.
    const asked: string[] = []
    await context.route(`${counter.url}/v1/types/**`, (route) => {
      const { pathname, searchParams } = new URL(route.request().url())
      asked.push(`${pathname} ${searchParams.get('prefix')}`)
      const count = pathname.endsWith('download') ? 4711 : 12
      return route.fulfill({ json: { count }, headers: { 'Access-Control-Allow-Origin': '*' } })
    })
    const tab = await context.newPage()
    await tab.goto(`${site.url}/page`)
    await shown(tab, 'b').toBe('12')
    await shown(tab, 'i').toBe('4,711')
    await shown(tab, 'u').toBe('0')
    expect(asked.sort()).toEqual(['/v1/types/download blog.example/app-', '/v1/types/page_view blog.example'])
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

  it('are counted by a click on a marked link, under its key or the path of its file, and the count is updated', async () => {
    const { tab } = await open(`${demo.url}/downloads`)
    for (const name of ['map.txt', 'list.csv']) {
      const download = tab.waitForEvent('download')
      await tab.click(`text=${name}`)
      expect((await download).suggestedFilename()).toBe(name)
    }
    await shown(tab, 'td[data-counter="list.csv"]').toBe('1')
    await counter.has({ ...views, 'download /files/map.txt': 1, 'download list.csv': 1 }, tab)
  })

  it('are counted with the keyboard and the middle button, but not with the right button', async () => {
    const { tab } = await open(`${demo.url}/downloads`)
    await tab.focus('text=list.csv')
    await tab.keyboard.press('Enter')
    await tab.click('text=map.txt', { button: 'middle' })
    await tab.click('text=map.txt', { button: 'right' })
    await counter.has({ ...views, 'download /files/map.txt': 1, 'download list.csv': 1 }, tab)
  })

  it('are counted under the link’s type, even if the page stops the click or navigates away', async () => {
    const { tab } = await openPage(
      `<a id="stopped" href="/file.zip" data-download="stopped"><b>inside</b></a>
          <a id="leaves" href="/next" data-download data-type="page_view">leaves</a>
          <a id="unmarked" href="#x">not marked</a>
          <script>stopped.onclick = (event) => { event.stopPropagation(); event.preventDefault() }</script>`,
      'data-local',
    )
    await tab.click('#unmarked')
    await tab.click('#stopped b')
    await tab.click('#leaves')
    await counter.has({ 'page_view /page': 1, 'download stopped': 1, 'page_view /next': 1 })
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
