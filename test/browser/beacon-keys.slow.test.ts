import { afterEach, describe, expect, it } from 'vitest'
import { chromiumOfFile, consoleOf } from './chromium.ts'
import { counterOfFile } from './shipped-worker.ts'
import { startSite } from './test-site.ts'

const browser = chromiumOfFile({ args: ['--host-resolver-rules=MAP *.example 127.0.0.1'] })
const counter = counterOfFile()
afterEach(() => counter.clear())

/** Opens a page with the script. Returns the tab, and what it said on the console. */
async function openPage(address: { host?: string; path?: string }, attributes: string, head = '') {
  const { host = 'blog.example', path = '/page' } = address
  const tag = `<script defer src="${counter.url}/slotted.js" ${attributes}></script>`
  const html = `<!doctype html><title>A page</title><link rel="icon" href="data:,">${head}${tag}<b data-counter>…</b>`
  const site = await startSite({ '/page': { html }, '/app/': { html } })
  const context = await browser.newContext()
  const said = consoleOf(context)
  const tab = await context.newPage()
  await tab.goto(`http://${host}:${site.port}${path}`)
  return { tab, said }
}

describe('A canonical link', () => {
  it.each([
    ['blog.example', 'https://blog.example/canonical?x#y', '/canonical?x'],
    ['blog.example', '/c;jsessionid=A1?q=caf%C3%A9%26b&p=2', '/c?q=café%26b&p=2'],
    ['blog.example', 'https://www.blog.example/canonical', '/canonical'],
    ['www.blog.example', 'https://blog.example/canonical', '/canonical'],
    ['blog.example', 'https://blog.example./canonical', '/canonical'],
    ['blog.example', 'https://blog.example:8443/canonical', '/canonical'],
    ['blog.example', '//user@BLOG.example/canonical', '/canonical'],
    ['blog.example', '/c/caf%c3%a9/%7Eme', '/c/café/~me'],
    ['blog.example', 'https://medium.example/@me/post', '/page'],
    ['blog.example', 'https://www.medium.example/@me/post', '/page'],
    ['blog.example', 'https://blog.example.org/canonical', '/page'],
    ['blog.example', 'https://my.blog.example/canonical', '/page'],
    ['blog.example', 'https://[::1]:8080/canonical', '/page'],
    ['blog.example', 'http://[', '/page'],
    ['blog.example', 'mailto:me@blog.example', '/page'],
  ])('of a page of %s to %s counts %s', async (host, link, key) => {
    const { tab, said } = await openPage({ host }, '', `<link rel="canonical" href="${link}">`)
    await counter.has({ [`page_view ${key}`]: 1 }, tab)
    expect(said).toEqual([])
  })
})

describe('A fragment', () => {
  it('is another page with data-hash, also beside a canonical link', async () => {
    const link = '<link rel="canonical" href="/app/">'
    const { tab } = await openPage({ path: '/app/#/caf%C3%A9' }, 'data-hash', link)
    await counter.reaches({ 'page_view /app/#/café': 1 })
    await tab.evaluate(() => {
      location.hash = '/map'
    })
    await counter.reaches({ 'page_view /app/#/café': 1, 'page_view /app/#/map': 1 })
    await tab.goBack()
    await counter.has({ 'page_view /app/#/café': 2, 'page_view /app/#/map': 1 }, tab)
    await expect.poll(() => tab.textContent('b')).toBe('2')
  })
})

describe('The script throws nothing into a page', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('no requests here')
      },
    ],
    ['returns nothing', () => {}],
  ])('whose fetch %s', async (_, fetch) => {
    const { tab, said } = await openPage({}, '', `<script>window.fetch = ${fetch}</script>`)
    await tab.evaluate(() => history.pushState(null, '', '/app/'))
    await tab.click('b')
    await counter.has({}, tab)
    expect(said).toEqual([])
  })
})
