import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { audit } from './audit.ts'
import { chromiumOfFile } from './chromium.ts'
import { counterUrl, sessionOfFile, shows, type Violations, watchedPage } from './open-dashboard.ts'
import { sampleCounter } from './sample-counter.ts'

const browser = chromiumOfFile()
const counter = sampleCounter()
const session = sessionOfFile(browser, counter)
let context: BrowserContext
let page: Page
let violations: Violations
beforeEach(async () => {
  ;({ context, violations, page } = await watchedPage(browser, counter, { timezoneId: 'UTC', storageState: session }))
})
afterEach(async () => {
  await context.close()
  expect(violations).toEqual({ foreign: [], messages: [] })
})

const dialog = () => page.getByRole('dialog')
const button = (name: string) => page.getByRole('button', { name, exact: true })
const confirm = (name: string) => dialog().getByRole('button', { name }).click()
const done = (text: string | RegExp) => expect.poll(() => page.textContent('#done')).toMatch(text)
const reaches = (key: string, count: number) =>
  expect.poll(async () => (await counter.counts())[`download ${key}`]).toBe(count)
const whole = (count: number) => count.toLocaleString('en-GB')
async function open(key: string): Promise<void> {
  await page.goto(counterUrl(counter, 'download', key))
  await page.locator('#change > summary').click()
}

describe('Setting', () => {
  const total = (text: string) => shows(page, '#figure-all', text)

  it('is undone by the difference: what is counted between question and answer, and afterwards, is not lost', async () => {
    const file = 'app-1.1.4.tgz'
    const before = (await counter.counts())[`download ${file}`]!
    await open(file)
    await page.getByLabel('Set to').fill('100,000')
    await button('Set …').click()
    await dialog().waitFor()
    await counter.add('download', file, 5)
    await confirm('Set to 100,000')
    await done(/^Set to 100,000\.Undo$/)
    await counter.add('download', file, 7)
    // A question that is not answered leaves it.
    await button('Reset to zero …').click()
    await confirm('Cancel')
    await button('Undo').click()
    await done(new RegExp(`^Undone: −?-?${whole(100_000 - before - 5)}\\.$`))
    await reaches(file, before + 12)
    await total(whole(before + 12))
    expect(await button('Undo').count()).toBe(0)
  })

  it('happens once, and is undone once, although the answers are lost', async () => {
    await counter.add('download', 'l.zip', 41)
    await open('l.zip')
    const lost = new Set<string>()
    await page.route(/v1\/(counters|imports)/, async (route) => {
      const method = route.request().method()
      if (method === 'GET' || lost.has(method)) return route.fallback()
      lost.add(method)
      await route.fetch()
      return route.abort()
    })
    await page.getByLabel('Set to').fill('50')
    await button('Set …').click()
    await confirm('Set to 50')
    await done(/^Set to 50\.Undo$/)
    await counter.add('download', 'l.zip', 1)
    await button('Undo').click()
    await done(/^Undone/)
    await reaches('l.zip', 42)
    expect([...lost]).toEqual(['PUT', 'POST'])
    violations.messages = violations.messages.filter((line) => !line.includes('ERR_FAILED'))
  })

  it('says beside the field which numbers it takes, before anything is asked', async () => {
    await counter.add('download', 'n.zip', 41)
    await open('n.zip')
    const field = page.getByLabel('Set to')
    for (const wrong of ['1.5', 'abc', '9007199254740992', '-9007199254740992', '123456789012345678901']) {
      await field.fill(wrong)
      await button('Set …').click()
      expect(await page.textContent('#change-message'), wrong).toMatch(
        /^A whole number.* between −?-?9,007,199,254,740,991 and 9,007,199,254,740,991\.$/,
      )
      expect(await dialog().isVisible()).toBe(false)
    }
    await field.fill('-9,007,199,254,740,991')
    expect(await page.textContent('#change-message')).toBe('')
    await button('Set …').click()
    await dialog()
      .getByRole('button', { name: /^Set to/ })
      .click()
    await done(/^Set to −?-?9,007,199,254,740,991\.Undo$/)
    expect(await audit(page)).toEqual([])
    await button('Undo').click()
    await done(/^Undone/)
    await reaches('n.zip', 41)
  })

  it('can be undone until the next change, or until the page is left', async () => {
    await counter.add('download', 'u.zip', 41)
    await open('u.zip')
    const set = async (count: string) => {
      await page.getByLabel('Set to').fill(count)
      await button('Set …').click()
      await confirm(`Set to ${count}`)
    }
    await set('50')
    await done(/^Set to 50\.Undo$/)
    await set('60')
    await done(/^Set to 60\.Undo$/)
    expect(await button('Undo').count()).toBe(1)
    await page.getByRole('navigation').getByRole('link', { name: 'Download' }).click()
    await page.waitForSelector('main[data-page=overview]')
    await page.goBack()
    await page.waitForSelector('main[data-page=counter]')
    await total('60')
    expect(await page.textContent('#done')).toBe('')
  })
})
