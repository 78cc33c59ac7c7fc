import { describeError } from './retried.ts'

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
