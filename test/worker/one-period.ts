const PERIOD_MS = 60_000

/**
 * Runs something that must happen within one period of the local rate limits, which begin on the full minute. If it fails and a
 * period ended meanwhile, it runs again. So it must ask from networks of its own each time.
 */
export async function inOnePeriod(work: () => Promise<void>): Promise<void> {
  for (;;) {
    const period = Math.floor(Date.now() / PERIOD_MS)
    try {
      return await work()
    } catch (error) {
      if (Math.floor(Date.now() / PERIOD_MS) === period) throw error
    }
  }
}
