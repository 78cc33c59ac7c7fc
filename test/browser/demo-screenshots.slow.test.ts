import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { launchChromium } from './chromium.ts'
import { loadedImages } from './open-dashboard.ts'
import { startCounter } from './shipped-worker.ts'
import { startDemo } from './test-site.ts'

const MAX_BYTES = 60_000
const FOLDER = join(import.meta.dirname, '../../docs')

// They are pictures for the documents. What the pages show is tested elsewhere.
it.runIf(process.env.SCREENSHOTS)('screenshots of the demo site', async () => {
  const counter = await startCounter()
  const demo = await startDemo(counter)
  const browser = await launchChromium()
  onTestFinished(() => browser.close())
  const seeds = { '/': 12_841, '/blog/counting': 3_977, '/app/': 1_208, '/downloads': 964 }
  for (const [key, by] of Object.entries(seeds)) await counter.add('page_view', key, by)
  const files = { '/files/map.txt': 1_530, 'list.csv': 411, 'app-1.2.0.tgz': 28_306 }
  for (const [key, by] of Object.entries(files)) await counter.add('download', key, by)

  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 760, height: 560 } })
  const page = await context.newPage()
  for (const [name, path] of [
    ['demo-home', '/'],
    ['demo-downloads', '/downloads'],
  ] as const) {
    await page.goto(demo.url + path)
    await expect.poll(() => page.locator('[data-counter]').allTextContents()).not.toContain('…')
    await loadedImages(page)
    // The port of a test run means nothing to a reader.
    await page.evaluate((origin) => {
      for (const pre of document.querySelectorAll('pre')) {
        pre.textContent = pre.textContent!.replaceAll(origin, 'https://counter.example')
      }
    }, counter.url)
    const file = join(FOLDER, `${name}.png`)
    await page.screenshot({ path: file })
    const { size } = await stat(file)
    expect(size).toBeGreaterThan(5_000)
    expect(size).toBeLessThan(MAX_BYTES)
  }
})
