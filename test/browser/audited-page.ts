import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { audit, auditedContext } from './audit.ts'
import type { Chromium } from './chromium.ts'
import { charted, openAll, type Session } from './open-dashboard.ts'

/** How to bring a page into its state. */
export type State = (page: Page) => Promise<unknown>

/** Opens a page of somebody who is signed in, brings it into a state, and audits it. */
export async function expectNothingWrong(
  browser: Chromium,
  session: Session,
  url: string,
  state?: State,
): Promise<void> {
  const page = await (await auditedContext(browser, session)).newPage()
  await page.goto(url)
  await state?.(page)
  expect(await audit(page)).toEqual([])
}

export async function everySectionOpen(page: Page): Promise<void> {
  await charted(page)
  await openAll(page)
}
