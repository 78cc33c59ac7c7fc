import { endProgress } from './progress.ts'
import { describeError, RefusedError } from './retried.ts'

/** Returns a controller that is aborted when the process receives SIGINT or SIGTERM. */
export function interruption(): AbortController {
  const interrupted = new AbortController()
  // `on`, not `once`: one Ctrl-C arrives twice, from the terminal and from npm, and an unhandled signal ends the process.
  process.on('SIGINT', () => interrupted.abort())
  process.on('SIGTERM', () => interrupted.abort())
  return interrupted
}

/** Why a command stopped, without a full stop. */
export function stopReason(error: unknown, { signal }: AbortController): string {
  return signal.aborted ? 'Interrupted' : `Stopped: ${describeError(error).replace(/\.+$/, '')}`
}

/** Says why a command stopped, and sets its exit code. @param advice sentences that follow the reason */
export function stop(error: unknown, interrupted: AbortController, advice: string, exitCode = 1): void {
  endProgress()
  console.error(`${stopReason(error, interrupted)}.${advice}`)
  process.exitCode = interrupted.signal.aborted ? 130 : exitCode
}

/** Whether running the command again can help: not if the Worker refused a request, or a file cannot be read. */
export function canContinue(error: unknown, { signal }: AbortController): boolean {
  return signal.aborted || !(error instanceof RefusedError || (error instanceof Error && 'code' in error))
}
