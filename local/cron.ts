import { Cron } from 'croner'
import { ROLL_UP_CRON } from '../src/config/config.ts'

/** Stops the clock and waits for runs in progress, until `patience` settles: a run may be cut off at any point without harm. */
export type StopCron = (patience?: Promise<unknown>) => Promise<void>

/** Runs the Worker's scheduled handler. @returns the outcome: `ok`, or what went wrong */
export type FireCron = (expression: string, time: Date) => Promise<string>

/**
 * Fires the Worker's cron triggers, as Cloudflare does in production: workerd has the handler but no clock. What runs every minute also
 * runs at the start. While a run of an expression is in progress, its next one is left out.
 *
 * @param expressions in UTC
 * @param say called for each run that fails
 */
export function startCron(fire: FireCron, expressions: readonly string[], say: (line: string) => void): StopCron {
  const running = new Set<Promise<void>>()
  const run = async (expression: string, time: Date) => {
    try {
      const outcome = await fire(expression, time)
      if (outcome !== 'ok') say(`Cron ${expression}: ${outcome}`)
    } catch (error) {
      say(`Cron ${expression} could not reach the Worker: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const jobs = expressions.map(
    (expression) =>
      new Cron(expression, { timezone: 'UTC', protect: true }, () => {
        const minute = new Date()
        minute.setUTCSeconds(0, 0)
        const current = run(expression, minute).finally(() => running.delete(current))
        running.add(current)
        return current
      }),
  )
  // Not only at the next minute: until a roll-up has run, a counter that was stopped for minutes is not healthy.
  void jobs.find((job) => job.getPattern() === ROLL_UP_CRON)?.trigger()
  return async (patience = new Promise<never>(() => {})) => {
    for (const job of jobs) job.stop()
    if (running.size === 0) return
    const notice = setTimeout(() => say('Waiting for a cron run in progress …'), 500)
    await Promise.race([Promise.allSettled(running), patience])
    clearTimeout(notice)
  }
}

/** Fires the cron triggers of a Worker under Miniflare. @param address that of its scheduled handler, for HTTP */
export function cronAt(address: string): FireCron {
  return async (cron, time) => {
    const query = new URLSearchParams({ cron, time: String(time.getTime()), format: 'json' })
    const response = await fetch(`${address}?${query}`)
    // Another answer than Miniflare's, as during a restart, has none.
    return /"outcome":"(\w+)"/.exec(await response.text())?.[1] ?? `HTTP ${response.status}`
  }
}
