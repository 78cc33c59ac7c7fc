import { Cron } from 'croner'

/**
 * Stops the clock, and waits for a run that is under way.
 *
 * @param patience when it settles, the run is no longer waited for: it may be cut off anywhere without harm
 */
export type StopCron = (patience?: Promise<unknown>) => Promise<void>

/**
 * Fires the Worker's cron triggers as production would: `wrangler dev` has the handler but no clock.
 *
 * @param workerUrl where the Worker answers
 * @param expressions the cron expressions of wrangler.toml, in UTC
 * @param say told of runs that fail; what a run did stands in the Worker's own log
 * @returns stops the clock
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
      say(`Cron ${expression} did not reach the Worker: ${error instanceof Error ? error.message : String(error)}`)
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
    const notice = setTimeout(() => say('Waiting for a cron run that is under way …'), 500)
    await Promise.race([Promise.allSettled(running), patience])
    clearTimeout(notice)
  }
}

/** What wrangler says of a run; nothing if it is not wrangler's answer, as while it restarts. */
function outcomeOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { outcome?: string } | null)?.outcome
  } catch {
    return undefined
  }
}
