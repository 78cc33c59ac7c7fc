/** Longest time between two attempts while something is wrong. */
const MAX_MS = 60_000

/** Something that is done again and again. */
export interface Repeated {
  /** Does it now instead of later. */
  now(): void
}

/**
 * Does something again and again while somebody looks at the page, and at once when somebody looks again. After failures it
 * takes its time.
 *
 * @param everyMs milliseconds from one end to the next beginning
 * @param work resolves to whether all went well
 */
export function repeat(everyMs: number, work: () => Promise<boolean>): Repeated {
  let timer: ReturnType<typeof setTimeout> | undefined
  let running = false
  let again = false
  let wait = everyMs
  const run = async () => {
    clearTimeout(timer)
    if (running) {
      again = true
      return
    }
    if (document.hidden) return
    running = true
    const well = await work().catch(() => false)
    running = false
    wait = well ? everyMs : Math.min(wait * 2, MAX_MS)
    if (again) {
      again = false
      void run()
    } else timer = setTimeout(run, wait)
  }
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void run()
  })
  // Not in a while, when the connection is back.
  addEventListener('online', () => void run())
  void run()
  return { now: () => void run() }
}
