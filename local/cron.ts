import { Cron } from 'croner'

/**
 * Stops the clock and waits for runs in progress.
 *
 * @param patience ends the wait when it settles. A run may be cut off at any point without harm.
 */
export type StopCron = (patience?: Promise<unknown>) => Promise<void>

/**
 * Fires the Worker's cron triggers, as Cloudflare does in production: `wrangler dev` has the handler but no clock.
 *
 * @param workerUrl the Worker's address
 * @param expressions the cron expressions of wrangler.toml, in UTC
 * @param say called for each run that fails. The Worker's own log reports what a run did.
 */
export function startCron(workerUrl: string, expressions: readonly string[], say: (line: string) => void): StopCron {
  const running = new Set<Promise<void>>()
  const fire = async (expression: string, time: Date) => {
    const query = new URLSearchParams({ cron: expression, time: String(time.getTime()), format: 'json' })
    try {
      const response = await fetch(`${workerUrl}/cdn-cgi/handler/scheduled?${query}`)
      const outcome = outcomeOf(await response.text())
      if (outcome !== 'ok') say(`Cron ${expression}: ${outcome ?? `HTTP ${response.status}`}`)
    } catch (error) {
      say(`Cron ${expression} could not reach the Worker: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const jobs = expressions.map(
    (expression) =>
      new Cron(expression, { timezone: 'UTC' }, () => {
        const minute = new Date()
        minute.setUTCSeconds(0, 0)
        const run = fire(expression, minute).finally(() => running.delete(run))
        running.add(run)
      }),
  )
  return async (patience = new Promise<never>(() => {})) => {
    for (const job of jobs) job.stop()
    if (running.size === 0) return
    const notice = setTimeout(() => say('Waiting for a cron run in progress …'), 500)
    await Promise.race([Promise.allSettled(running), patience])
    clearTimeout(notice)
  }
}

/** The outcome of a run; `undefined` if the response is not wrangler's, as during a restart. */
function outcomeOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { outcome?: string } | null)?.outcome
  } catch {
    return undefined
  }
}
