import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { BrowserContext } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { sessionOf } from './open-dashboard.ts'
import { sampleCounter } from './sample-counter.ts'

/** The most bytes of script and style of a page, compressed. */
const MAX_BYTES = 20_000

const browser = chromiumOfFile()
const counter = sampleCounter()

/** Puts a server in front of the Worker. It leaves all requests but those for pages, styles and scripts unanswered, if it is told. */
async function startGate() {
  const { hostname, port } = new URL(counter.url)
  const gate = { url: '', answersAll: true, answered: [] as string[] }
  const server = createServer((asked, answered) => {
    const { method, url: path = '', headers } = asked
    if (!gate.answersAll && !/^\/$|\.(css|js)$/.test(path)) return
    gate.answered.push(path)
    const passed = request({ hostname, port, method, path, headers }, (response) => {
      answered.writeHead(response.statusCode!, response.headers)
      response.pipe(answered)
    })
    asked.pipe(passed)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  gate.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return gate
}

it('the chart needs the page, its style and a script, together at most 20 kB, and on the next visit the page alone', async () => {
  const gate = await startGate()
  const storageState = await sessionOf(browser, { ...counter, url: gate.url })
  gate.answersAll = false

  /** Opens the dashboard. Returns whether its chart is there, and for which files the browser has asked. */
  const visit = async (context: BrowserContext) => {
    gate.answered.length = 0
    const page = await context.newPage()
    await page.goto(gate.url)
    const drawn = (await page.locator('.chart svg .bars').count()) > 0
    await page.close()
    return { drawn, files: gate.answered.map((path) => /\w*$/.exec(path)![0]).sort() }
  }
  let context = await browser.newContext({ storageState })
  // Once more, if the numbers were not read within the second for which a page waits for them.
  await expect
    .poll(async () => {
      // With an empty cache.
      await context.close()
      context = await browser.newContext({ storageState })
      return visit(context)
    })
    .toEqual({ drawn: true, files: ['', 'css', 'js'] })
  const loaded = gate.answered.filter((path) => path !== '/')
  await expect.poll(() => visit(context)).toEqual({ drawn: true, files: [''] })

  const texts = await Promise.all(loaded.map(async (path) => (await fetch(counter.url + path)).text()))
  expect(texts.reduce((bytes, text) => bytes + gzipSync(text, { level: 9 }).length, 0)).toBeLessThan(MAX_BYTES)
})
