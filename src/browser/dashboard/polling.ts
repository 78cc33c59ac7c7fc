/** The longest pause after failures, in milliseconds. */
const MAX_MS = 60_000

/** Work that is repeated. */
export interface Polling {
  /** Runs the work now, or once more after a run that is under way. */
  now(): void
  /** Ends it. A run that is under way is finished. */
  stop(): void
}

/**
 * Repeats some work while the page is visible, and runs it at once when the page becomes visible again. Backs off after failures.
 *
 * @param everyMs milliseconds between the end of a run and the start of the next one
 * @param work resolves to whether it succeeded
 */
export function poll(everyMs: number, work: () => Promise<boolean>): Polling {
  let timer: ReturnType<typeof setTimeout> | undefined
  let running = false
  let again = false
  let stopped = false
  let wait = everyMs
  const run = async () => {
    clearTimeout(timer)
    if (stopped) return
    if (running) {
      again = true
      return
    }
    if (document.hidden) return
    running = true
    const well = await work().catch(() => false)
    running = false
    wait = well ? everyMs : Math.min(wait * 2, MAX_MS)
    if (stopped) return
    if (again) {
      again = false
      void run()
    } else timer = setTimeout(run, wait)
  }
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void run()
  })
  // When the connection is back, the pause may be long.
  addEventListener('online', () => void run())
  void run()
  return {
    now: () => void run(),
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
