/** The longest pause after failures, in milliseconds. */
const MAX_FAILED_MS = 60_000
/** The shortest time between two runs that nobody asked for, such as when a page is shown again and again. */
const MIN_MS = 10_000

/** How a run ended. `done` ends the polling. */
export type Outcome = 'changed' | 'unchanged' | 'failed' | 'done'

/**
 * Repeats some work while the page is visible. Pauses grow while nothing changes and after failures. Times are in milliseconds.
 * @param options `waits`: begin with a pause; `atMostMs`: the longest pause while nothing changes
 * @returns runs the work now, or again after the current run
 */
export function poll(
  everyMs: number,
  work: () => Promise<Outcome>,
  { waits = false, atMostMs = 300_000 } = {},
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let running = false
  let again = false
  let done = false
  let wait = everyMs
  let lastAt = waits ? Date.now() : Number.NEGATIVE_INFINITY
  const run = async () => {
    clearTimeout(timer)
    again = running
    if (running || done || document.hidden) return
    running = true
    lastAt = Date.now()
    const outcome = await work().catch(() => 'failed' as const)
    running = false
    if (outcome === 'changed') wait = everyMs
    else wait = Math.min(wait * 2, outcome === 'failed' ? Math.max(everyMs, MAX_FAILED_MS) : atMostMs)
    done = outcome === 'done'
    if (again) void run()
    else if (!done) plan(wait)
  }
  const plan = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(run, ms)
  }
  const runSoon = () => {
    if (document.hidden || done) return
    wait = everyMs
    plan(Math.max(0, lastAt + MIN_MS - Date.now()))
  }
  document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : runSoon()))
  addEventListener('online', runSoon)
  if (waits) plan(everyMs)
  else void run()
  return () => {
    wait = everyMs
    void run()
  }
}
