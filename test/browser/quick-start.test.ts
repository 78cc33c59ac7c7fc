import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, it, onTestFinished } from 'vitest'
import { accessLog } from '../local/cli/sample-log.ts'
import { npmStart, PROJECT, stateDirectory } from '../local/npm-script.ts'
import { launchChromium } from './chromium.ts'

it('following the output of npm start leads to a chart of the counts in an access log', async () => {
  const directory = await stateDirectory()
  const { service } = await npmStart({ MYSQL_URL: '', API_TOKEN: '', STATE_DIR: directory })
  const log = join(inject('scratch'), 'newcomer.log')
  await writeFile(log, accessLog())

  const command = /^ {2}(.*npm run replay -- access\.log)$/m.exec(service.output)![1]!
  const { stdout } = await promisify(execFile)('sh', ['-c', command.replace('access.log', log)], { cwd: PROJECT })
  const counted = (type: string) => Number(new RegExp(`(\\d+) ${type}`).exec(stdout)?.[1] ?? 0)
  expect(counted('page_view')).toBeGreaterThan(0)

  const [, url, token] = /dashboard {2}(\S+) \(sign in with the API token: (\S+)\)/.exec(service.output)!
  const browser = await launchChromium()
  onTestFinished(() => browser.close())
  const page = await (await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC' })).newPage()
  await page.goto(new URL('/?type=page_view', url).href)
  await page.getByLabel('API token').fill(token!)
  await page.keyboard.press('Enter')
  await page.waitForSelector('main[data-page]')
  // The page is shown before its script listens.
  await page.waitForLoadState()
  const rollUp = async () => {
    const answer = await fetch(new URL('/v1/rollup', url), {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}` },
    })
    return ((await answer.json()) as { outcome?: string }).outcome
  }
  // A run is bounded, and the cron's may be under way.
  await expect.poll(rollUp, { timeout: 60_000 }).toBe('complete')
  await page.reload()

  // Not those of today, which may end meanwhile.
  const shows = (count: number) =>
    expect.poll(() => page.textContent('#tile-7d b'), { timeout: 60_000 }).toBe(count.toLocaleString('en'))
  await shows(counted('page_view'))
  expect(await page.locator('#chart > svg').isVisible()).toBe(true)
  // The ranking loads on its own.
  await expect.poll(() => page.locator('#top tr').count(), { timeout: 60_000 }).toBe(10)
  await page.getByRole('link', { name: 'Downloads', exact: true }).click()
  await page.waitForURL('**/?type=download*')
  // Without any, the page has the first steps.
  await page
    .locator(counted('download') === 0 ? '#first-run' : '#top tr')
    .first()
    .waitFor()
})
