import { onTestFinished } from 'vitest'
import type { Chromium } from './chromium.ts'

/** A real tab. Playwright emulates the focus of its own pages, which makes all of them visible. */
export interface Tab {
  show(): Promise<void>
  title(): Promise<string>
}

/** Opens a window for a test, with tabs that Playwright does not attach to, so that they can be hidden. */
export async function openWindow(browser: Chromium) {
  const session = await browser.newBrowserCDPSession()
  const { browserContextId } = await session.send('Target.createBrowserContext')
  onTestFinished(async () => {
    await session.send('Target.disposeBrowserContext', { browserContextId })
  })
  return {
    /** Opens a tab in the foreground or in the background. */
    async open(url: string, { background = false } = {}): Promise<Tab> {
      const { targetId } = await session.send('Target.createTarget', { url, browserContextId, background })
      return {
        async show() {
          await session.send('Target.activateTarget', { targetId })
        },
        async title() {
          const { targetInfos } = await session.send('Target.getTargets')
          return targetInfos.find((target) => target.targetId === targetId)?.title ?? ''
        },
      }
    },
  }
}
