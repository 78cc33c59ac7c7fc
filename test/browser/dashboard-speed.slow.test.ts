import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { constants, createGzip, gzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { launchChromium } from './chromium.ts'
import { signedIn } from './open-dashboard.ts'
import { type Counter, startCounter } from './shipped-worker.ts'

/** A phone of a few years ago, in a bad network: latency of a request in milliseconds, and bytes in a second. */
const SLOW = { latency: 400, bytesPerSecond: 400_000 / 8, cpu: 4 }
const LOADS = Number(process.env.LOADS ?? 1)
const MAX_SCRIPT_BYTES = 35_000

/** Puts a server in front of the Worker that compresses what passes, as Cloudflare does and the local runtime does not. */
async function compressed(counter: Counter): Promise<{ url: string; stop(): void }> {
  const { hostname, port } = new URL(counter.url)
  const server = createServer((asked, answered) => {
    const { method, url: path, headers } = asked
    const passed = request({ hostname, port, method, path, headers }, (response) => {
      const { 'content-length': length, 'transfer-encoding': _, ...kept } = response.headers
      const zips = length !== '0' && response.statusCode !== 304 && kept['content-encoding'] === undefined
      answered.writeHead(response.statusCode!, { ...kept, ...(zips && { 'content-encoding': 'gzip' }) })
      if (zips) response.pipe(createGzip({ flush: constants.Z_SYNC_FLUSH })).pipe(answered)
      else response.pipe(answered)
    })
    asked.pipe(passed)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/**
 * Milliseconds from the navigation until the chart was drawn, on the first visit with an empty cache and on the second one. On a
 * slow machine they say nothing, so no time is expected.
 */
async function loadTimes(browser: Browser, counter: Counter): Promise<[first: number, second: number]> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin' })
  try {
    const page = await signedIn(context, counter)
    await page.waitForSelector('.chart svg')
    await page.goto('about:blank')
    // The page tells itself, because a script that Playwright runs in it takes part of the time that is measured.
    await page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        if (document.querySelector('.chart svg .bars') === null) return
        observer.disconnect()
        requestAnimationFrame(() => setTimeout(() => console.log(`drawn after ${performance.now()} ms`)))
      }).observe(document, { childList: true, subtree: true })
    })
    const session = await context.newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: SLOW.latency,
      downloadThroughput: SLOW.bytesPerSecond,
      uploadThroughput: SLOW.bytesPerSecond,
    })
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOW.cpu })
    const visit = async () => {
      const [drawn] = await Promise.all([
        page.waitForEvent('console', { predicate: (line) => line.text().startsWith('drawn'), timeout: 60_000 }),
        page.goto(counter.url, { waitUntil: 'commit' }),
      ])
      return Number(drawn.text().split(' ')[2])
    }
    await session.send('Network.clearBrowserCache')
    const first = await visit()
    await page.goto('about:blank')
    const second = await visit()
    return [first, second]
  } finally {
    await context.close()
  }
}

const median = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!

it(`the script has less than ${MAX_SCRIPT_BYTES} bytes, and the chart is there soon on a slow phone`, async () => {
  const counter = await startCounter()
  const browser = await launchChromium()
  onTestFinished(async () => {
    await browser.close()
    await counter.stop()
  })
  const days = Array.from({ length: 60 }, (_, i) => new Date(Date.now() - i * 86_400_000).toISOString().slice(0, 10))
  const imported = days.flatMap((day) =>
    Array.from({ length: 12 }, (_, i) => ({ type: 'page_view', key: `/blog/page-${i}`, count: 90 * (i + 1), day })),
  )
  await counter.api('POST', '/v1/imports', { counters: imported })
  await counter.add('page_view', '/blog/page-1', 17)
  await counter.rollUp(new Date())
  const proxy = await compressed(counter)
  onTestFinished(() => proxy.stop())
  const shown = { ...counter, url: proxy.url }
  const times: [number, number][] = []
  for (let load = 0; load < LOADS; load++) times.push(await loadTimes(browser, shown))
  const [first, second] = [0, 1].map((visit) => Math.round(median(times.map((pair) => pair[visit]!))))
  const page = await (await fetch(counter.url)).text()
  const script = await fetch(counter.url.replace(/\/$/, '') + /src="([^"]+\.js)"/.exec(page)![1]!)
  const bytes = gzipSync(await script.text(), { level: 9 }).length
  console.log(`chart after ${first} ms on the first visit, ${second} ms on the second; script ${bytes} bytes gzipped`)
  expect(bytes).toBeLessThan(MAX_SCRIPT_BYTES)
  expect(first).toBeGreaterThan(SLOW.latency)
}, 300_000)
