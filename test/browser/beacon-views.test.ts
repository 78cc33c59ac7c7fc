import { expect, it } from 'vitest'
import { pagesOfFile, views } from './beacon-pages.ts'
import { settled } from './chromium.ts'
import { startServer } from './test-site.ts'

const { counter, open } = pagesOfFile()

it('A view is counted once when a page is loaded, again when it is reloaded, and not again for another fragment', async () => {
  const { tab } = await open('<a href="#second">second</a>', { path: '/page?from=mail' })
  await tab.click('a')
  await tab.goBack()
  await tab.goForward()
  await counter.has(views({ '/page': 1 }), tab)
  await tab.reload()
  await counter.has(views({ '/page': 2 }), tab)
})

it('A view is counted even if the visitor leaves, or closes the page as soon as it is loaded, before the hit arrives', async () => {
  // A slow connection to the counter: a request that the browser cancels in the meantime never arrives.
  const { promise: held, resolve: arrive } = Promise.withResolvers<void>()
  const slow = await startServer(async ({ url = '', method = '', headers, socket }, response) => {
    if (url.startsWith('/hit')) await held
    if (socket.destroyed) return
    const answer = await fetch(counter.url + url, { method, headers: { 'User-Agent': headers['user-agent']! } })
    response.setHeader('Access-Control-Allow-Origin', '*').end(await answer.text())
  })
  const { tab } = await open('', { from: slow.url })
  for (let i = 0; i < 5; i++) {
    const closed = await tab.context().newPage()
    await closed.goto(new URL('/closed', tab.url()).href, { waitUntil: 'domcontentloaded' })
    await closed.close()
  }
  await tab.goto('about:blank')
  // When another request of the browser has come through, it has cancelled what it would cancel.
  await tab.goto(`${slow.url}/healthz`)
  arrive()
  await counter.has(views({ '/page': 1, '/closed': 5 }))
})

it('A view is counted if the visitor goes back and forward between pages, even if they come from the back/forward cache', async () => {
  const { tab } = await open()
  // Pages with open requests need not be kept.
  await settled(tab)
  await tab.evaluate(() => Object.assign(window, { left: true }))
  await tab.goto(new URL('/next', tab.url()).href)
  await counter.has(views({ '/page': 1, '/next': 1 }), tab)
  // The page is not loaded again, so there is no load event to wait for.
  await tab.goBack({ waitUntil: 'commit' })
  // The same page, not a new one. Otherwise this would not test the back/forward cache.
  expect(await tab.evaluate(() => 'left' in window)).toBe(true)
  await counter.has(views({ '/page': 2, '/next': 1 }), tab)
  await tab.goForward({ waitUntil: 'commit' })
  await counter.has(views({ '/page': 2, '/next': 2 }), tab)
})
