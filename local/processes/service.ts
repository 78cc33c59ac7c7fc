/** Milliseconds within which a second signal counts as the same keystroke. */
const ONE_KEYSTROKE_MS = 1_000

export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A service that runs until a signal. */
export interface Service {
  /** Starts everything. If it fails, `stop` follows. */
  start(): Promise<void>
  /** Stops what is running, even after half a start. @param impatience resolves with a second signal */
  stop(impatience: Promise<void>): Promise<void>
  say(line: string, level?: 'error'): void
}

/** Runs a service until SIGINT, SIGTERM or SIGHUP, or until npm ends, and then ends this process. */
export function runService({ start, stop, say }: Service) {
  const impatience = Promise.withResolvers<void>()
  let started = false
  let stopping: Promise<void> | undefined
  let askedAt = 0

  const end = (exitCode: number): Promise<void> => {
    stopping ??= (async () => {
      // A server can be stopped only when it is up, so wait for the start in progress.
      await starting.catch(() => {})
      await stop(impatience.promise)
      process.exit(exitCode)
    })().catch((error: unknown) => {
      say(`Stopping failed: ${String(error)}`, 'error')
      process.exit(1)
    })
    return stopping
  }

  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      if (stopping) {
        // One Ctrl-C arrives twice: from the terminal and from npm.
        if (Date.now() - askedAt < ONE_KEYSTROKE_MS) return
        impatience.resolve()
        // A server that is still starting ends with this process: see stop-with-parent.ts.
        if (!started) process.exit(1)
        return
      }
      askedAt = Date.now()
      say(`${signal}: stopping …`)
      void end(0)
    })
  }
  // npm does not always forward the signal that ended it. Without npm, no terminal can stop this process any more.
  if (process.env.npm_lifecycle_event !== undefined) {
    const parent = process.ppid
    setInterval(() => {
      if (process.ppid !== parent && !stopping) {
        say('npm has ended: stopping …')
        void end(1)
      }
    }, 1_000).unref()
  }

  const starting = start().finally(() => {
    started = true
  })
  starting.catch((error: unknown) => {
    say(error instanceof Error ? error.message : String(error), 'error')
    void end(1)
  })
  return { isStopping: () => stopping !== undefined, end }
}
