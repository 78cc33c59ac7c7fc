import type { Browser } from 'playwright-core'

/** A tab as people have it. Playwright emulates the focus of its own pages, which makes all of them visible. */
export interface Tab {
  show(): Promise<void>
  title(): Promise<string>
}

/** A window with tabs that Playwright does not attach to: they are hidden and shown, and prerender. */
export async function openWindow(browser: Browser) {
  const session = await browser.newBrowserCDPSession()
  const { browserContextId } = await session.send('Target.createBrowserContext')
  return {
    /** Opens a tab in front of the others, or behind them. */
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
    close: () => session.send('Target.disposeBrowserContext', { browserContextId }),
  }
}
